/** Preference between two texts by criterion: a pure reducer, and conversion to the API value. */

import type { Schemas } from '../../api/client.ts'
import type { Criterion, Page } from '../../rating/protocol.ts'

export type Choice = 'left' | 'right' | 'tie' | 'neither'
export type Card = Schemas['CompareCard']
export type Value = Schemas['CompareValue']
export interface Step {
  readonly choices: Readonly<Record<string, Choice>>
  readonly reasons: Readonly<Record<string, string>>
  readonly item: number
}
export interface State extends Step {
  readonly nudge: string
  /** The criterion whose reason is being typed; typing is one undo step. */
  readonly typing: string
  readonly trail: readonly Step[]
  readonly complete: boolean
}
/** An arrow key inside a radio group chooses, but never moves on. */
export type By = 'key' | 'click' | 'arrow'
export type Action =
  | { do: 'choose'; criterion?: string; choice: Choice; by: By }
  | { do: 'why'; criterion: string; text: string }
  | { do: 'go'; item: number }
  | { do: 'next' }
  | { do: 'undo' }

export interface Facts {
  readonly page: Page
  readonly criteria: readonly Criterion[]
  /** A reopened answer: only Enter moves on. */
  readonly revisit: boolean
}

export const facts = (page: Page, revisit: boolean): Facts => ({ page, criteria: page.protocol.criteria, revisit })
const step = ({ choices, reasons, item }: Step): Step => ({ choices, reasons, item })
export const kept = (s: State) => ({ ...step(s), trail: s.trail })

export function begin(draft: (Step & { trail?: readonly Step[] }) | null, page?: Page, value?: Value | null): State {
  const start: Step = draft ?? (page && value ? fromValue(page, value) : { choices: {}, reasons: {}, item: 0 })
  return { ...start, trail: draft?.trail ?? [], nudge: '', typing: '', complete: false }
}

/** The missing part of a criterion, or null. */
export function lacks(c: Criterion, s: Step): 'choice' | 'reason' | null {
  const choice = s.choices[c.key]
  if (!choice) return c.required ? 'choice' : null
  return c.reason.required_at.includes(choice) && !s.reasons[c.key]?.trim() ? 'reason' : null
}

export function reduce(f: Facts, s: State, action: Action): State {
  if (s.complete) return s
  const item = (n: number) => Math.max(0, Math.min(f.criteria.length - 1, n))
  switch (action.do) {
    case 'choose': {
      const at = action.criterion ? f.criteria.findIndex((c) => c.key === action.criterion) : s.item
      const criterion = f.criteria[at]
      if (!criterion?.scale.options.some((o) => o.value === action.choice)) return s
      const choices = { ...s.choices, [criterion.key]: action.choice }
      const after: State = { ...s, choices, item: at, nudge: '', typing: '', trail: [...s.trail, step(s)] }
      if (action.by === 'arrow') return { ...after, nudge: 'Press Enter to continue.' }
      return onward(f, after)
    }
    case 'why':
      return {
        ...s, reasons: { ...s.reasons, [action.criterion]: action.text }, typing: action.criterion,
        trail: s.typing === action.criterion ? s.trail : [...s.trail, step(s)],
      }
    case 'go':
      return { ...s, item: item(action.item) }
    case 'next': {
      const open = f.criteria.findIndex((c) => lacks(c, s))
      if (open < 0) return { ...s, trail: [...s.trail, step(s)], complete: true, nudge: '' }
      return { ...s, item: open, nudge: says(f.criteria[open]!, s) }
    }
    case 'undo': {
      const last = s.trail.at(-1)
      return last ? { ...begin(last), trail: s.trail.slice(0, -1) } : s
    }
  }
}

/** Move on after a choice: to the next open criterion, or complete the pair. */
function onward(f: Facts, s: State): State {
  if (lacks(f.criteria[s.item]!, s)) return { ...s, nudge: says(f.criteria[s.item]!, s) }
  const from = f.criteria.findIndex((c, n) => n > s.item && !s.choices[c.key])
  const open = from >= 0 ? from : f.criteria.findIndex((c) => lacks(c, s))
  if (open >= 0) return { ...s, item: open }
  return f.revisit ? { ...s, nudge: 'Press Enter to save the change.' } : { ...s, complete: true }
}

function says(c: Criterion, s: Step): string {
  return lacks(c, s) === 'reason' ? `Reason required: ${c.name}. Press W, then Enter.` : `${c.name} is not answered yet.`
}

export function toValue(page: Page, s: Step): Value {
  const [left, right] = page.texts as [Page['texts'][0], Page['texts'][0]]
  return {
    left: left.key, right: right.key,
    said: page.protocol.criteria.filter((c) => s.choices[c.key]).map((c) => {
      const choice = s.choices[c.key]!
      return { criterion: c.key, choice: choice === 'left' ? left.key : choice === 'right' ? right.key : choice, reason: (s.reasons[c.key] ?? '').trim() }
    }),
  }
}

/** The value with the sides as shown now; they can have been swapped when it was stored. */
export function fromValue(page: Page, value: Value): Step {
  const side = (choice: string): Choice => (choice === page.texts[0]!.key ? 'left' : choice === page.texts[1]!.key ? 'right' : (choice as Choice))
  return {
    choices: Object.fromEntries(value.said.map((s) => [s.criterion, side(s.choice)])),
    reasons: Object.fromEntries(value.said.map((s) => [s.criterion, s.reason])), item: 0,
  }
}
