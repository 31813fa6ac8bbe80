/** Splitting one sentence into propositions with four slots each, as a pure reducer. The page only draws it. */

import type { Schemas } from '../../api/client.ts'
import { flipped, fromValue, marked, rangesOf, toSlot, typed, type Said, type StandsFor } from '../../pico/said.ts'
import { ORDER, SLOTS, type Slot } from '../../pico/slots.ts'
import type { Range } from '../../text/offsets.ts'
import { clear, nothing, selected } from '../../text/selection.ts'
import { words } from '../../text/words.ts'
import { select, type SelectAction, type Selecting } from '../selecting.ts'

export type Card = Schemas['PicoCard']
export type Value = Schemas['PicoValue']

/** The slots in the order in which a selection by mouse fills them: by how often they are filled. */
const FILLED_FIRST: readonly Slot[] = ['i', 'o', 'c', 'p']

/** What a blank comparator can mean, each with its key. */
export const BLANKS = [
  { value: 'placebo', key: '1' },
  { value: 'none', key: '2' },
  { value: 'not stated', key: '3' },
] as const

export interface Facts {
  readonly text: string
  readonly words: readonly Range[]
}

export type Proposition = Readonly<Record<Slot, Said | null>> & {
  /** What a blank comparator means. */
  readonly standsFor: StandsFor
  /** It began as a copy of another: its outcome is what a selection fills, until it has one of its own. */
  readonly copy: 'no' | 'waits' | 'told'
}

/** What undo brings back. */
export interface Step {
  readonly rows: readonly Proposition[]
  readonly active: number
  /** The slot that was filled last; '' where none was. */
  readonly last: Slot | ''
}

export interface State extends Step, Selecting {
  /** What a selection by mouse has filled by itself, and what stood there: the next slot key moves it. */
  readonly filled: { slot: Slot; was: Said | null; copy: Proposition['copy'] } | null
  /** The slot that is typed in. */
  readonly field: Slot | ''
  readonly nudge: string
  /** The blank slots were pointed out: Enter goes on with them. */
  readonly warned: boolean
  readonly trail: readonly Step[]
  readonly complete: boolean
}

export type Action =
  | SelectAction
  /** The selection goes into a slot; without one its field opens. `add`: as a further piece. */
  | { do: 'slot'; slot: Slot; add: boolean }
  | { do: 'open'; slot: Slot }
  | { do: 'close' }
  /** Keeps what was typed; `then`: the field to open next. */
  | { do: 'type'; text: string; then?: Slot | '' }
  | { do: 'stands for'; value: StandsFor }
  | { do: 'again' }
  | { do: 'remove'; row: number }
  | { do: 'blank'; slot?: Slot }
  | { do: 'flip'; slot?: Slot }
  | { do: 'go'; row: number }
  | { do: 'next' }
  | { do: 'undo' }

const EMPTY: Proposition = { p: null, i: null, c: null, o: null, standsFor: '', copy: 'no' }

export function facts(text: string): Facts {
  return { text, words: words(text) }
}

export function rowsOf(text: string, value: Value): Proposition[] {
  return value.tuples.map((row) => {
    const slot = (name: Slot) => fromValue(row[name], text)
    return { p: slot('p'), i: slot('i'), c: slot('c'), o: slot('o'), standsFor: row.c.stands_for ?? '', copy: 'no' }
  })
}

/** Where a sentence begins: with its answer, else with the split in force where it is shown. */
export function begin({ text, value, in_force }: Pick<Card, 'text' | 'value' | 'in_force'>): State {
  const given = value ?? in_force
  return fresh({ rows: given ? rowsOf(text, given) : [EMPTY], active: 0, last: '' })
}

/** The state of a draft, or of a sentence that was left: as far as it is one. */
export function resumed(draft: unknown): State | null {
  const kept = draft as { said?: Step; trail?: Step[] } | null
  return kept?.said?.rows?.length ? { ...fresh(kept.said), trail: kept.trail ?? [] } : null
}

function fresh(step: Step): State {
  return { ...step, selection: nothing, finding: null, filled: null, field: '', nudge: '', warned: false, trail: [], complete: false }
}

export function step({ rows, active, last }: Step): Step {
  return { rows, active, last }
}

/** The slot that the next selection by mouse fills; '' where none waits. */
export function waiting(state: Step): Slot | '' {
  const row = state.rows[state.active]!
  if (row.copy !== 'no') return row.copy === 'waits' ? 'o' : ''
  return FILLED_FIRST.find((slot) => !row[slot] && !(slot === 'c' && row.standsFor)) ?? ''
}

const plain = (said: Said | null) => (said?.text ?? '').trim().replace(/\s+/g, ' ').toLowerCase()

/** The earlier proposition that says the same, by its number from 0; -1 where there is none. */
export function twin(rows: readonly Proposition[], row: number): number {
  const same = (other: Proposition) => ORDER.every((slot) => plain(other[slot]) === plain(rows[row]![slot]))
  return rows.slice(0, row).findIndex(same)
}

/** What is drawn on the sentence: the slots of one proposition. */
export function placesOf(text: string, row: Proposition): { slot: Slot; ranges: readonly Range[] }[] {
  return ORDER.flatMap((slot) => {
    const said = row[slot]
    const ranges = said ? rangesOf(said, text) : []
    return ranges.length ? [{ slot, ranges }] : []
  })
}

export function reduce(f: Facts, state: State, action: Action): State {
  if (state.complete) return state
  switch (action.do) {
    case 'drag':
      return dragged(f, state, action)
    case 'slot':
      return filled(f, state, action.slot, action.add)
    case 'open':
      return { ...state, field: action.slot, last: action.slot, nudge: '' }
    case 'close':
      return { ...state, field: '' }
    case 'type':
      return kept(f, state, action.text, action.then ?? '')
    case 'stands for': {
      const row = state.rows[state.active]!
      return row.c ? state : put(state, { ...row, standsFor: row.standsFor === action.value ? '' : action.value }, 'c')
    }
    case 'again':
      return again(f, state)
    case 'remove':
      return removed(state, action.row)
    case 'blank': {
      const slot = action.slot ?? state.last
      return slot && state.rows[state.active]![slot] ? put(state, withSlot(state.rows[state.active]!, slot, null), slot) : state
    }
    case 'flip': {
      const slot = action.slot ?? state.last
      const said = slot && state.rows[state.active]![slot]
      const other = said && flipped(said, f.text)
      return slot && other ? put(state, withSlot(state.rows[state.active]!, slot, other), slot) : state
    }
    case 'go': {
      const there = action.row >= 0 && action.row < state.rows.length && action.row !== state.active
      // What has filled a slot by itself was meant for that one; a selection that waits for its slot is kept.
      const selection = state.filled ? clear(state.selection) : state.selection
      return there ? { ...state, active: action.row, last: '', field: '', filled: null, selection } : state
    }
    case 'next':
      return next(state)
    case 'undo': {
      const last = state.trail.at(-1)
      return last ? { ...fresh(last), selection: clear(state.selection), trail: state.trail.slice(0, -1) } : state
    }
    case 'let go':
      return { ...state, ...select(state, f.text, f.words, action), filled: null, nudge: '' }
    default:
      return { ...state, ...select(state, f.text, f.words, action), filled: null }
  }
}

/** One step further, with another proposition in the place of the active one. */
function put(state: State, row: Proposition, last: Slot): State {
  const rows = state.rows.map((r, n) => (n === state.active ? row : r))
  return { ...state, rows, last, nudge: '', warned: false, trail: [...state.trail, step(state)] }
}

function withSlot(row: Proposition, slot: Slot, said: Said | null): Proposition {
  const standsFor = slot === 'c' && said ? '' : row.standsFor
  return { ...row, [slot]: said, standsFor, copy: row.copy === 'waits' && slot === 'o' ? 'told' : row.copy }
}

/** A selection by mouse fills the slot that waits; with Ctrl it is a further piece of the slot that was filled last. */
function dragged(f: Facts, state: State, action: SelectAction & { do: 'drag' }): State {
  const row = state.rows[state.active]!
  const before = state.last && row[state.last]
  if (action.keepEarlier && state.last && before && before.ranges.length) {
    const alone = select({ selection: nothing, finding: null }, f.text, f.words, { ...action, keepEarlier: false })
    const more = [...before.ranges, ...selected(alone.selection, f.words)]
    return { ...put(state, withSlot(row, state.last, marked(f.text, more)), state.last), selection: clear(alone.selection), filled: null }
  }
  const now = { ...state, ...select(state, f.text, f.words, action), filled: null }
  const slot = waiting(state)
  const chosen = selected(now.selection, f.words)
  if (action.keepEarlier || now.selection.kept.length || !slot || !chosen.length || now.selection === state.selection) return now
  return { ...put(now, withSlot(row, slot, marked(f.text, chosen)), slot), filled: { slot, was: row[slot], copy: row.copy } }
}

function filled(f: Facts, state: State, slot: Slot, add: boolean): State {
  const chosen = selected(state.selection, f.words)
  if (!chosen.length) return reduce(f, state, { do: 'open', slot })
  const first = state.rows[state.active]!
  const back = state.filled && state.filled.slot !== slot ? state.filled : null
  const row = back ? { ...first, [back.slot]: back.was, copy: back.copy } : first
  const said = marked(f.text, add ? [...(row[slot]?.ranges ?? []), ...chosen] : chosen)
  return { ...put(state, withSlot(row, slot, said), slot), selection: clear(state.selection), finding: null, filled: null }
}

function kept(f: Facts, state: State, text: string, then: Slot | ''): State {
  if (!state.field) return state
  const slot = state.field
  const row = state.rows[state.active]!
  const said = typed(text, f.text)
  const unchanged = (said?.text ?? '') === (row[slot]?.text ?? '')
  const after = unchanged ? state : put(state, withSlot(row, slot, said), slot)
  return { ...after, field: then, last: then || slot, filled: null, selection: clear(state.selection) }
}

function again(f: Facts, state: State): State {
  const chosen = state.filled ? [] : selected(state.selection, f.words)
  const copy: Proposition = { ...state.rows[state.active]!, copy: 'waits' }
  const row = chosen.length ? withSlot(copy, 'o', marked(f.text, chosen)) : copy
  const rows = [...state.rows.slice(0, state.active + 1), row, ...state.rows.slice(state.active + 1)]
  return {
    ...state, rows, active: state.active + 1, last: 'o', trail: [...state.trail, step(state)],
    selection: clear(state.selection), finding: null, filled: null, nudge: '', warned: false,
  }
}

function removed(state: State, row: number): State {
  const left = state.rows.filter((_, n) => n !== row)
  const rows = left.length ? left : [EMPTY]
  const active = Math.min(row < state.active ? state.active - 1 : state.active, rows.length - 1)
  return {
    ...state, rows, active, last: '', field: '', trail: [...state.trail, step(state)],
    selection: clear(state.selection), filled: null, nudge: '', warned: false,
  }
}

function next(state: State): State {
  const at = (active: number, nudge: string): State => ({ ...state, active, nudge, last: active === state.active ? state.last : '', filled: null })
  const same = state.rows.findIndex((_, n) => twin(state.rows, n) >= 0)
  if (same >= 0) return at(same, `Proposition ${same + 1} is the same as ${twin(state.rows, same) + 1}. Change a slot, or remove it: X.`)
  const blank = state.rows.findIndex((row) => ORDER.every((slot) => !row[slot]))
  if (blank >= 0) return at(blank, `Proposition ${blank + 1} is blank. Fill a slot${state.rows.length > 1 ? ', or remove it: X' : ''}.`)
  const lacks = state.rows.findIndex((row) => !row.i || !row.o)
  if (lacks >= 0 && !state.warned) {
    const slot: Slot = state.rows[lacks]!.i ? 'o' : 'i'
    return { ...at(lacks, `${SLOTS[slot]} of proposition ${lacks + 1} is blank. Fill it, or Enter again to leave it blank.`), warned: true }
  }
  return { ...state, trail: [...state.trail, step(state)], nudge: '', complete: true }
}

export function toValue(text: string, rows: readonly Proposition[]): Value {
  return {
    tuples: rows.map((row) => ({
      p: toSlot(row.p, text), i: toSlot(row.i, text), o: toSlot(row.o, text),
      c: { ...toSlot(row.c, text), stands_for: row.c ? '' : row.standsFor },
    })),
  }
}

/** "In adults: bevacizumab, against ranibizumab → visual acuity". */
export function read(row: Record<Slot, { text: string } | null>, standsFor: string): string {
  const text = (slot: Slot) => row[slot]?.text ?? ''
  const against = text('c') || (standsFor === 'not stated' ? '' : standsFor)
  return `${text('p') && `In ${text('p')}: `}${text('i') || '…'}${against && `, against ${against}`} → ${text('o') || '…'}`
}

export function inWords(value: Value | null): string {
  return value ? value.tuples.map((row) => read(row, row.c.stands_for ?? '')).join('; ') : ''
}
