/**
 * What is wrong with a rewriting and what is odd about it, as `measures/counterfactuals.py` says it: errors keep it from
 * being accepted, warnings do not. Both are held to `tests/measures/word_edits.json`.
 */

import { SLOTS, type Slot } from '../../pico/slots.ts'
import { fromWire, type Range } from '../../text/offsets.ts'
import { difference, sameWords, type Difference, type Edit } from '../../text/wordEdits.ts'
import { KINDS, MOST_WORDS, type Card, type Field } from './words.ts'

export interface Check {
  readonly says: string
  readonly is: 'right' | 'odd' | 'wrong'
}

export interface Checked {
  readonly difference: Difference
  readonly checks: readonly Check[]
  /** Slots whose words an edit touches, by the edit's place in the list. */
  readonly touched: readonly (readonly Slot[])[]
}

/** `others`: the texts that were given for the other kinds. */
export function check(card: Card, field: Field, text: string, others: Readonly<Partial<Record<Field, string>>>): Checked {
  const found = difference(card.text, text)
  const { words, edits } = found
  const touched = edits.map((edit) => card.pico.filter((s) => fromWire(card.text, s.fragments).some((r) => touches(edit, r))).map((s) => s.slot))
  const slots = [...new Set(touched.flat())]
  const twin = (Object.keys(others) as Field[]).find((other) => other !== field && others[other] && sameWords(others[other], text))
  const checks: Check[] = [
    text.trim() && words !== 0 ? right('differs from the target') : wrong(text.trim() ? 'the words of the target' : 'no text'),
    words !== null && words <= MOST_WORDS ? right(`at most ${MOST_WORDS} words changed`) : wrong(`${words ?? 'more than 40'} words changed, at most ${MOST_WORDS} may be`),
    slots.length ? odd(`changes words of the ${slots.map((s) => SLOTS[s].toLowerCase()).join(' and the ')}`) : right('PICO words as they are'),
    twin ? odd(`same text as ${KINDS[twin].title.toLowerCase()}`) : right('not the text of another kind'),
  ]
  const unlike = field === 'modality' && words ? unlikeM3(card, text) : ''
  if (unlike) checks.push(odd(unlike))
  return { difference: found, checks, touched }
}

const right = (says: string): Check => ({ says, is: 'right' })
const odd = (says: string): Check => ({ says, is: 'odd' })
const wrong = (says: string): Check => ({ says, is: 'wrong' })

/** Words put in between those of a slot touch it as well. */
function touches({ target }: Edit, slot: Range): boolean {
  return target.start < slot.end && slot.start < target.end
}

/** M3 hedged what was moderate, and made moderate what was weak or strong: by the words that weaken or strengthen. */
function unlikeM3(card: Card, text: string): string {
  const hedges = count(card.hedges, text) - count(card.hedges, card.text)
  const boosters = count(card.boosters, text) - count(card.boosters, card.text)
  if (card.modality === 'moderate' && hedges <= 0) return 'M3 hedges a moderate claim: no hedge was added'
  if (card.modality === 'weak' && (boosters > 0 || hedges >= 0)) return 'M3 makes a weak claim moderate: a hedge goes, nothing that strengthens comes'
  if (card.modality === 'strong' && (hedges > 0 || boosters >= 0)) return 'M3 makes a strong claim moderate: what strengthens goes, no hedge comes'
  return ''
}

function count(phrases: readonly string[], text: string): number {
  if (!phrases.length) return 0
  const longest = [...phrases].sort((a, b) => b.length - a.length)
  return [...text.matchAll(new RegExp(`(?<![\\p{L}\\p{N}_-])(?:${longest.join('|')})(?![\\p{L}\\p{N}_-])`, 'giu'))].length
}

/** What changed in a few words: "reduces → does not reduce". */
export function inShort(target: string, text: string): string {
  const { words, edits } = difference(target, text)
  if (words === null) return 'another text'
  return edits.map((e) => {
    const [was, now] = [target.slice(e.target.start, e.target.end), text.slice(e.text.start, e.text.end)]
    return was && now ? `${was} → ${now}` : now ? `+ ${now}` : `− ${was}`
  }).join('; ')
}
