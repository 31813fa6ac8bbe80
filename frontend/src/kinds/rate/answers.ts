/** Answers about one text: which criteria are asked, prefilled answers, and what is missing. Pure functions. */

import type { Criterion, Item, Protocol, Target, When } from '../../rating/protocol.ts'
import { beside } from '../../rating/protocol.ts'
import type { Range } from '../../text/offsets.ts'

/** Marked words of the text. */
export interface Span {
  readonly range: Range
  readonly category: string
  readonly severity: string
  readonly reason: string
}
/** A passage quoted as evidence; `study` is -1 in the text itself. */
export interface Quote {
  readonly in: 'summary' | 'source'
  readonly study: number
  readonly range: Range
}
/** The answer to one criterion. `value` null: not answered yet. */
export interface Said {
  readonly value: string | null
  readonly na: boolean
  readonly prefilled: boolean
  readonly reason: string
  readonly spans: readonly Span[]
  readonly quotes: readonly Quote[]
}
/** Answers about one text, by criterion key. */
export type Answers = Readonly<Record<string, Said>>

export const NOTHING: Said = { value: null, na: false, prefilled: false, reason: '', spans: [], quotes: [] }
export const MARKED = 'marked'
export const NONE = 'none'

export const saidOf = (answers: Answers, key: string): Said => answers[key] ?? NOTHING
export const isAnswered = (said: Said): boolean => said.na || said.value !== null

function holds(when: When, answers: Answers): boolean {
  const said = saidOf(answers, when.criterion)
  // An empty value means not applicable.
  return said.na ? when.values.includes('') : said.value !== null && when.values.includes(said.value)
}

/** Whether a criterion is asked, given the answers it depends on. */
export function isShown(protocol: Protocol, criterion: Criterion, answers: Answers): boolean {
  const when = criterion.shown_if
  if (!when) return true
  const on = protocol.criteria.find((c) => c.key === when.criterion)
  return holds(when, answers) && (!on || isShown(protocol, on, answers))
}

/** Add prefilled answers. They follow the answer they depend on and never replace a person's own answer. */
export function derived(protocol: Protocol, answers: Answers, target: Target | null): Answers {
  let out = answers
  for (const criterion of protocol.criteria) {
    const said = saidOf(out, criterion.key)
    if (isAnswered(said) && !said.prefilled) continue
    const rule = criterion.prefill.find((p) => holds(p.if, out) && (!p.target?.length || p.target.includes(beside(criterion, target) ?? '')))
    const value = rule && !rule.na ? rule.value : null
    const na = rule?.na ?? false
    if (rule ? said.prefilled && said.value === value && said.na === na : !said.prefilled) continue
    out = { ...out, [criterion.key]: { ...said, value, na, prefilled: rule !== undefined } }
  }
  return out
}

/** The missing part of a criterion, or ''. */
export function lacks(criterion: Criterion, said: Said): '' | 'answer' | 'reason' | 'reason of a mark' {
  if (!isAnswered(said) || (criterion.scale.type === 'text' && !said.na && !said.value?.trim())) return criterion.required ? 'answer' : ''
  if (!said.reason.trim() && !said.na && criterion.reason.required_at.includes(said.value ?? '')) return 'reason'
  if (criterion.scale.reason === 'required' && said.spans.some((s) => !s.reason.trim())) return 'reason of a mark'
  return ''
}

/** The criteria of an item that are asked. */
export function askedCriteria(protocol: Protocol, item: Item, answers: Answers): Criterion[] {
  return item.criteria.filter((c) => isShown(protocol, c, answers))
}

/** Index of the first incomplete item from `from` on, wrapping around; -1 if all are complete. */
export function firstOpen(protocol: Protocol, all: readonly Item[], answers: Answers, from = 0): number {
  for (let n = 0; n < all.length; n++) {
    const at = (from + n) % all.length
    if (askedCriteria(protocol, all[at]!, answers).some((c) => lacks(c, saidOf(answers, c.key)))) return at
  }
  return -1
}

/** Answer the rest of a group by exception as in the target: the first option, or N/A if the target has no value. */
export function restSame(protocol: Protocol, item: Item, answers: Answers, target: Target | null): Answers {
  let out = answers
  for (const criterion of askedCriteria(protocol, item, answers)) {
    const said = saidOf(out, criterion.key)
    if (isAnswered(said)) continue
    const na = criterion.na && beside(criterion, target) === ''
    out = { ...out, [criterion.key]: { ...said, value: na ? null : (criterion.scale.options[0]?.value ?? null), na, prefilled: false } }
  }
  return out
}
