/** A target that is rewritten kind by kind: a pure reducer. Each kind gets a text, or a reason why it has none. */

import { check, type Checked } from './checks.ts'
import { REASONS, type Card, type Field, type Said, type Value } from './words.ts'

/** What can be undone: where one is, and what was said. */
interface Step {
  /** The kind in front, by its place among those that are asked. */
  readonly at: number
  readonly text: string
  /** The rule of the draft that the text began from; empty where it began from the target. */
  readonly rule: Said['rule']
  /** The reasons stand in the place of the drafts. */
  readonly reasons: boolean
  readonly said: Readonly<Value>
}

export interface State extends Step {
  readonly trail: readonly Step[]
  /** The last change was typed: the next letter is the same step. */
  readonly typing: boolean
  /** Why it was not accepted. */
  readonly nudge: string
  /** Every kind has what it needs: the page moves on. */
  readonly complete: boolean
}

export type Action =
  | { do: 'choose'; n: number }
  | { do: 'type'; text: string }
  | { do: 'accept' }
  | { do: 'reasons' }
  | { do: 'go'; at: number }
  | { do: 'undo' }

/** Where a unit begins: with its draft, else with what was said of it, at the first kind that has nothing yet. */
export function begin(card: Card, draft: unknown): State {
  if (isKept(draft)) return { ...draft, typing: false, nudge: '', complete: false }
  const said = card.value ?? {}
  const at = Math.max(0, card.asked.findIndex((a) => !said[a.field]))
  return { ...entered(card, said, at), trail: [], typing: false, nudge: '', complete: false }
}

function isKept(draft: unknown): draft is Step & { trail: readonly Step[] } {
  return typeof draft === 'object' && draft !== null && 'said' in draft && 'trail' in draft
}

/** What is kept of a unit that is left. */
export const kept = ({ at, text, rule, reasons, said, trail }: State) => ({ at, text, rule, reasons, said, trail })

function entered(card: Card, said: Readonly<Value>, at: number): Step {
  const asked = card.asked[at]!
  const before = said[asked.field]
  const [draft] = asked.drafts
  const text = before ? before.text || card.text : (draft?.text ?? card.text)
  return { at, text, rule: before ? before.rule : (draft?.rule ?? ''), reasons: Boolean(before?.reason), said }
}

export const fieldOf = (card: Card, state: Step): Field => card.asked[state.at]!.field
export const draftsOf = (card: Card, state: Step) => card.asked[state.at]!.drafts

/** The text as it would be accepted: a draft as it stands is drafted, whichever one it was begun from. */
export function entry(card: Card, state: Step): Said {
  const before = state.said[fieldOf(card, state)]
  if (before?.text === state.text) return before
  const same = draftsOf(card, state).find((d) => d.text === state.text)
  if (same) return { text: state.text, origin: 'drafted', rule: same.rule, reason: '' }
  return { text: state.text, origin: state.rule ? 'edited' : 'written', rule: state.rule, reason: '' }
}

/** What is wrong with the text in front, and what is odd. */
export function checked(card: Card, state: Step): Checked {
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
      if (state.reasons) return { ...state, nudge: 'Press the number of the reason, or Esc.' }
      const wrong = checked(card, state).checks.find((c) => c.is === 'wrong')
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

/** The kind has what it needs: on to the next one that has nothing. */
function settled(card: Card, state: State, now: Said): State {
  const said = { ...state.said, [fieldOf(card, state)]: now }
  const waits = (at: number) => !said[card.asked[at]!.field]
  const order = card.asked.map((_, i) => (state.at + 1 + i) % card.asked.length)
  const next = order.find(waits)
  const trail = [...state.trail, step(state)]
  if (next === undefined) return { ...state, said, trail, typing: false, nudge: '', complete: true }
  return { ...entered(card, said, next), trail, typing: false, nudge: '', complete: false }
}

/** Whether the kind that comes next is another one: then the keys of the one before are not its own yet. */
export const moved = (before: State, after: State): boolean => before.at !== after.at
