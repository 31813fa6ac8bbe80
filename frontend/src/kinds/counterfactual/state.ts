/** Rewriting a target kind by kind, as a pure reducer. Each kind gets a text, or a reason why it does not apply. */

import { check, type Checked } from './checks.ts'
import { REASONS, type Card, type Field, type Said, type Value } from './words.ts'

/** An undo step: the current kind and the answers. */
interface Step {
  /** Index of the current kind. */
  readonly at: number
  readonly text: string
  /** The rule of the draft that the text started from; empty for the target. */
  readonly rule: Said['rule']
  /** Whether reasons are shown instead of drafts. */
  readonly reasons: boolean
  readonly said: Readonly<Value>
}

export interface State extends Step {
  readonly trail: readonly Step[]
  /** Whether the last change was typed; further typing is the same undo step. */
  readonly typing: boolean
  /** Why the text was not accepted. */
  readonly nudge: string
  /** Whether every kind is answered; the page then moves on. */
  readonly complete: boolean
}

export type Action =
  | { do: 'choose'; n: number }
  | { do: 'type'; text: string }
  | { do: 'accept' }
  | { do: 'reasons' }
  | { do: 'go'; at: number }
  | { do: 'undo' }

/** Initial state: the draft, otherwise the answer at the first open kind. */
export function begin(card: Card, draft: unknown): State {
  if (isKept(draft)) return { ...draft, typing: false, nudge: '', complete: false }
  const said = card.value ?? {}
  const at = Math.max(0, card.asked.findIndex((a) => !said[a.field]))
  return { ...entered(card, said, at), trail: [], typing: false, nudge: '', complete: false }
}

function isKept(draft: unknown): draft is Step & { trail: readonly Step[] } {
  return typeof draft === 'object' && draft !== null && 'said' in draft && 'trail' in draft
}

/** Draft of a unit that is left. */
export const toDraft = ({ at, text, rule, reasons, said, trail }: State) => ({ at, text, rule, reasons, said, trail })

function entered(card: Card, said: Readonly<Value>, at: number): Step {
  const asked = card.asked[at]!
  const before = said[asked.field]
  const [draft] = asked.drafts
  const text = before ? before.text || card.text : (draft?.text ?? card.text)
  return { at, text, rule: before ? before.rule : (draft?.rule ?? ''), reasons: Boolean(before?.reason), said }
}

export const fieldOf = (card: Card, state: Step): Field => card.asked[state.at]!.field
export const draftsOf = (card: Card, state: Step) => card.asked[state.at]!.drafts

/** The current text as an answer. A text equal to any draft has the origin `drafted`. */
export function entry(card: Card, state: Step): Said {
  const before = state.said[fieldOf(card, state)]
  if (before?.text === state.text) return before
  const sameDraft = draftsOf(card, state).find((d) => d.text === state.text)
  if (sameDraft) return { text: state.text, origin: 'drafted', rule: sameDraft.rule, reason: '' }
  return { text: state.text, origin: state.rule ? 'edited' : 'written', rule: state.rule, reason: '' }
}

/** Checks of the current text. */
export function checkDraft(card: Card, state: Step): Checked {
  const others = Object.fromEntries(Object.entries(state.said).map(([field, said]) => [field, said.text]))
  return check(card, fieldOf(card, state), state.text, others)
}

export function reduce(card: Card, state: State, action: Action): State {
  switch (action.do) {
    case 'choose':
      return state.reasons ? reason(card, state, action.n) : draft(card, state, action.n)
    case 'type': {
      const text = action.text.replace(/[\r\n]+/g, ' ')
      if (text === state.text) return state
      return { ...state, text, typing: true, nudge: '', trail: state.typing ? state.trail : [...state.trail, step(state)] }
    }
    case 'accept': {
      if (state.reasons) return { ...state, nudge: 'Press the number of a reason, or Esc.' }
      const wrong = checkDraft(card, state).checks.find((c) => c.is === 'wrong')
      return wrong ? { ...state, nudge: `Not accepted: ${wrong.says}.` } : settled(card, state, entry(card, state))
    }
    case 'reasons':
      return { ...state, reasons: !state.reasons, typing: false, nudge: '' }
    case 'go':
      if (action.at === state.at || !card.asked[action.at]) return state
      return { ...state, ...entered(card, state.said, action.at), typing: false, nudge: '', trail: [...state.trail, step(state)] }
    case 'undo': {
      const last = state.trail.at(-1)
      return last ? { ...state, ...last, trail: state.trail.slice(0, -1), typing: false, nudge: '', complete: false } : state
    }
  }
}

const step = ({ at, text, rule, reasons, said }: Step): Step => ({ at, text, rule, reasons, said })

function draft(card: Card, state: State, n: number): State {
  const chosen = draftsOf(card, state)[n]
  if (!chosen || chosen.text === state.text) return state
  return { ...state, text: chosen.text, rule: chosen.rule, typing: false, nudge: '', trail: [...state.trail, step(state)] }
}

function reason(card: Card, state: State, n: number): State {
  const chosen = REASONS[n]
  return chosen ? settled(card, state, { text: '', origin: '', rule: '', reason: chosen.reason }) : state
}

/** Store the answer of the current kind and move to the next open one. */
function settled(card: Card, state: State, now: Said): State {
  const said = { ...state.said, [fieldOf(card, state)]: now }
  const waits = (at: number) => !said[card.asked[at]!.field]
  const order = card.asked.map((_, i) => (state.at + 1 + i) % card.asked.length)
  const next = order.find(waits)
  const trail = [...state.trail, step(state)]
  if (next === undefined) return { ...state, said, trail, typing: false, nudge: '', complete: true }
  return { ...entered(card, said, next), trail, typing: false, nudge: '', complete: false }
}

/** Whether the current kind has changed; early key presses were meant for the one before. */
export const hasMoved = (before: State, after: State): boolean => before.at !== after.at
