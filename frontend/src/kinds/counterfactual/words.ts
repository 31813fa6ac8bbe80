/** Labels of the kinds of counterfactuals, rules of drafts, and reasons why a kind does not apply. */

import type { Schemas } from '../../api/client.ts'

export type Card = Schemas['CounterfactualCard']
export type Value = Schemas['CounterfactualValue']
export type Field = Card['asked'][number]['field']
export type Said = Schemas['RewritingValue']
export type Rule = Card['asked'][number]['drafts'][number]['rule']
export type Reason = Exclude<Said['reason'], ''>

export const MOST_WORDS = 5

export const KINDS: Readonly<Record<Field, { title: string; how: string }>> = {
  negation: { title: 'Negation', how: 'Negate the finding. The polarity can change; modality and PICO stay.' },
  antonym: { title: 'Antonym', how: 'Replace the word that expresses the direction by its opposite.' },
  no_effect: { title: 'No effect', how: 'Change an effect to no effect, or no effect to an effect.' },
  no_evidence: { title: 'No evidence', how: 'Change a claim to no evidence, or no evidence to a claim.' },
  modality: { title: 'Modality', how: 'Hedge a moderate claim; make a weak or strong claim moderate. The direction stays.' },
}

export const RULES: Readonly<Record<Rule, string>> = {
  'not added': '“not” added',
  'not removed': '“not” removed',
  'no added': '“no” added',
  'no removed': '“no” removed',
  'neither to both': '“neither … nor” to “both … and”',
  'and to but not': '“and” to “but not”',
  'without to with': '“without” to “with”',
  antonym: 'antonym',
  'effect to no effect': 'effect to no effect',
  'no effect to effect': 'no effect to effect',
  'there is no evidence': '“There is no evidence that …”',
  'evidence stated': 'evidence stated',
  'hedge added': 'hedge added',
  'hedge removed': 'hedge removed',
  'booster removed': 'booster removed',
}

export const REASONS: readonly { reason: Reason; says: string }[] = [
  { reason: 'no claim', says: 'Target is no evidence' },
  { reason: 'no opposite', says: 'No word with an opposite' },
  { reason: 'touches pico', says: 'Would change the PICO' },
  { reason: 'too many words', says: 'More than five words' },
  { reason: 'other', says: 'Another reason (comment)' },
]

/** Origin of a text in words. */
export function originInWords(said: Said): string {
  if (said.origin === 'written') return 'written from the target'
  const rule = said.rule ? RULES[said.rule] : ''
  return said.origin === 'edited' ? `draft, edited (${rule})` : `draft (${rule})`
}

export const reasonInWords = (reason: string): string => REASONS.find((r) => r.reason === reason)?.says ?? reason
