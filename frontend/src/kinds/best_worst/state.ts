/** The best and the worst of a tuple by criterion: a pure reducer, and conversion to the API value. */

import type { Schemas } from '../../api/client.ts'
import type { Criterion, Page } from '../../rating/protocol.ts'

export type Card = Schemas['BestWorstCard']
export type Value = Schemas['BestWorstValue']
export const ENDS = ['best', 'worst'] as const
export type End = (typeof ENDS)[number]
/** Numbers of the chosen texts on the page, from 0. */
export type Picks = Readonly<Partial<Record<End, number>>>
export interface Step {
  readonly picks: Readonly<Record<string, Picks>>
  readonly item: number
}
export interface State extends Step {
  readonly nudge: string
  readonly trail: readonly Step[]
  readonly complete: boolean
}
export type Action =
  /** Choose the text as the best, or as the worst if there is a best. A chosen text is taken back. */
  | { do: 'pick'; text: number }
  | { do: 'toggle'; criterion: string; end: End; text: number }
  | { do: 'go'; item: number }
  | { do: 'next' }
  | { do: 'undo' }

export const keptDraft = ({ picks, item, trail }: State) => ({ picks, item, trail })
const step = ({ picks, item }: Step): Step => ({ picks, item })

export function begin(page: Page, draft: (Step & { trail?: readonly Step[] }) | null, value: Value | null = null): State {
  const start: Step = draft?.picks ? draft : { picks: value ? fromValue(page, value) : {}, item: 0 }
  return { ...step(start), trail: draft?.trail ?? [], nudge: '', complete: false }
}

export const picksOf = (s: Step, c: Criterion): Picks => s.picks[c.key] ?? {}
const isDone = (s: Step, c: Criterion) => ENDS.every((end) => picksOf(s, c)[end] !== undefined)

/** What is chosen by a criterion, and what is missing. */
export function says(s: Step, c: Criterion): string {
  const { best, worst } = picksOf(s, c)
  if (best === undefined) return worst === undefined ? 'Choose the best.' : `Worst: ${worst + 1}. Choose the best.`
  return worst === undefined ? `Best: ${best + 1}. Choose the worst.` : `Best: ${best + 1}. Worst: ${worst + 1}.`
}

export function reduce(page: Page, s: State, action: Action): State {
  if (s.complete) return s
  const { criteria } = page.protocol
  switch (action.do) {
    case 'pick': {
      const now = criteria[s.item]
      if (!now || action.text >= page.texts.length) return s
      const chosen = picksOf(s, now)
      const end = ENDS.find((one) => chosen[one] === action.text) ?? ENDS.find((one) => chosen[one] === undefined)
      if (!end) return { ...s, nudge: 'Both are chosen. Press the number of one to take it back, or Enter to continue.' }
      return reduce(page, s, { do: 'toggle', criterion: now.key, end, text: action.text })
    }
    case 'toggle': {
      const at = criteria.findIndex((c) => c.key === action.criterion)
      const chosen = picksOf(s, criteria[at]!)
      // One text cannot be both, and each end has one text.
      const others = Object.entries(chosen).filter(([end, text]) => end !== action.end && text !== action.text)
      const picks: Picks = Object.fromEntries(chosen[action.end] === action.text ? others : [...others, [action.end, action.text]])
      const after = { ...s, picks: { ...s.picks, [action.criterion]: picks }, item: at, nudge: '', trail: [...s.trail, step(s)] }
      const open = criteria.findIndex((c) => !isDone(after, c))
      return isDone(after, criteria[at]!) && open >= 0 ? { ...after, item: open } : after
    }
    case 'go':
      return { ...s, item: Math.max(0, Math.min(criteria.length - 1, action.item)) }
    case 'next': {
      const open = criteria.findIndex((c) => !isDone(s, c))
      if (open < 0) return { ...s, trail: [...s.trail, step(s)], complete: true, nudge: '' }
      const end = picksOf(s, criteria[open]!).best === undefined ? 'best' : 'worst'
      return { ...s, item: open, nudge: `The ${end} is not chosen yet: ${criteria[open]!.name}.` }
    }
    case 'undo': {
      const last = s.trail.at(-1)
      return last ? { ...s, ...last, nudge: '', trail: s.trail.slice(0, -1) } : s
    }
  }
}

export function toValue(page: Page, s: Step): Value {
  const empty = { na: false, prefilled: false, reason: '', spans: [], quotes: [] }
  return {
    texts: page.texts.map((text, n) => ({
      text: text.key,
      said: page.protocol.criteria.map((c) => ({ ...empty, criterion: c.key, value: ENDS.find((end) => picksOf(s, c)[end] === n) ?? 'neither' })),
    })),
  }
}

/** The choices by place on the page as shown now. */
function fromValue(page: Page, value: Value): Record<string, Picks> {
  const found: Record<string, Partial<Record<End, number>>> = {}
  page.texts.forEach((text, n) => {
    for (const said of value.texts.find((t) => t.text === text.key)?.said ?? []) {
      if (said.value === 'best' || said.value === 'worst') (found[said.criterion] ??= {})[said.value] = n
    }
  })
  return found
}

/** "best 2, worst 4": the places on the page. */
export function inWords(value: Value | null): string {
  const at = (end: End) => (value?.texts ?? []).findIndex((t) => t.said[0]?.value === end) + 1
  return ENDS.filter((end) => at(end)).map((end) => `${end} ${at(end)}`).join(', ')
}
