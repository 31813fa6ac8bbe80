/** Splitting one sentence into propositions with four PICO elements each, as a pure reducer. */

import type { Schemas } from '../../api/client.ts'
import { flipped, fromValue, inputOfRanges, rangesOf, toElement, inputOfText, type ElementInput, type StandsFor } from '../../pico/elementInput.ts'
import { ORDER, ELEMENTS, type ElementKey } from '../../pico/elements.ts'
import type { Range } from '../../text/offsets.ts'
import { clear, emptySelection, selected } from '../../text/selection.ts'
import { words } from '../../text/words.ts'
import { select, type SelectAction, type Selecting } from '../selecting.ts'

export type Card = Schemas['PicoCard']
export type Value = Schemas['PicoValue']

/** Order in which selections by mouse fill the elements: most frequent first. */
const FILLED_FIRST: readonly ElementKey[] = ['i', 'o', 'c', 'p']

/** Meanings of a blank comparator, with their keys. */
export const BLANKS = [
  { value: 'placebo', key: '1' },
  { value: 'none', key: '2' },
  { value: 'not stated', key: '3' },
] as const

export interface Facts {
  readonly text: string
  readonly words: readonly Range[]
}

export type Proposition = Readonly<Record<ElementKey, ElementInput | null>> & {
  /** Meaning of a blank comparator. */
  readonly standsFor: StandsFor
  /** Whether it was copied from another proposition; the next selection then fills its outcome. */
  readonly copy: 'no' | 'waits' | 'told'
}

/** An undo step. */
export interface Step {
  readonly rows: readonly Proposition[]
  readonly active: number
  /** The element filled last, or ''. */
  readonly last: ElementKey | ''
}

export interface State extends Step, Selecting {
  /** The element that a selection by mouse has filled, with its old content; the next element key moves the text. */
  readonly filled: { element: ElementKey; was: ElementInput | null; copy: Proposition['copy'] } | null
  /** The element with an open text field, or ''. */
  readonly field: ElementKey | ''
  readonly nudge: string
  /** Whether the person was warned about blank elements; Enter then continues. */
  readonly warned: boolean
  readonly trail: readonly Step[]
  readonly complete: boolean
}

export type Action =
  | SelectAction
  /** Put the selection into an element, or open its text field. `add`: as a further part. */
  | { do: 'element'; element: ElementKey; add: boolean }
  | { do: 'open'; element: ElementKey }
  | { do: 'close' }
  /** Store typed text; `then`: the field to open next. */
  | { do: 'type'; text: string; then?: ElementKey | '' }
  | { do: 'stands for'; value: StandsFor }
  | { do: 'again' }
  | { do: 'remove'; row: number }
  | { do: 'blank'; element?: ElementKey }
  | { do: 'flip'; element?: ElementKey }
  | { do: 'go'; row: number }
  | { do: 'next' }
  | { do: 'undo' }

const EMPTY: Proposition = { p: null, i: null, c: null, o: null, standsFor: '', copy: 'no' }

export function facts(text: string): Facts {
  return { text, words: words(text) }
}

export function rowsOf(text: string, value: Value): Proposition[] {
  return value.tuples.map((row) => {
    const element = (name: ElementKey) => fromValue(row[name], text)
    return { p: element('p'), i: element('i'), c: element('c'), o: element('o'), standsFor: row.c.stands_for ?? '', copy: 'no' }
  })
}

/** Initial state: the answer, otherwise the current value if it is shown. */
export function begin({ text, value, current }: Pick<Card, 'text' | 'value' | 'current'>): State {
  const initialValue = value ?? current
  return fresh({ rows: initialValue ? rowsOf(text, initialValue) : [EMPTY], active: 0, last: '' })
}

/** The state of a draft or of a sentence that was left; null if it is neither. */
export function resumed(draft: unknown): State | null {
  const stored = draft as { said?: Step; trail?: Step[] } | null
  return stored?.said?.rows?.length ? { ...fresh(stored.said), trail: stored.trail ?? [] } : null
}

function fresh(step: Step): State {
  return { ...step, selection: emptySelection, finding: null, filled: null, field: '', nudge: '', warned: false, trail: [], complete: false }
}

export function step({ rows, active, last }: Step): Step {
  return { rows, active, last }
}

/** The element that the next selection by mouse fills, or ''. */
export function waiting(state: Step): ElementKey | '' {
  const row = state.rows[state.active]!
  if (row.copy !== 'no') return row.copy === 'waits' ? 'o' : ''
  return FILLED_FIRST.find((element) => !row[element] && !(element === 'c' && row.standsFor)) ?? ''
}

const plain = (said: ElementInput | null) => (said?.text ?? '').trim().replace(/\s+/g, ' ').toLowerCase()

/** Index of an earlier equal proposition, or -1. */
export function twin(rows: readonly Proposition[], row: number): number {
  const equals = (other: Proposition) => ORDER.every((element) => plain(other[element]) === plain(rows[row]![element]))
  return rows.slice(0, row).findIndex(equals)
}

/** The elements of one proposition that are located in the sentence. */
export function placesOf(text: string, row: Proposition): { element: ElementKey; ranges: readonly Range[] }[] {
  return ORDER.flatMap((element) => {
    const said = row[element]
    const ranges = said ? rangesOf(said, text) : []
    return ranges.length ? [{ element, ranges }] : []
  })
}

export function reduce(f: Facts, state: State, action: Action): State {
  if (state.complete) return state
  switch (action.do) {
    case 'drag':
      return dragged(f, state, action)
    case 'element':
      return filled(f, state, action.element, action.add)
    case 'open':
      return { ...state, field: action.element, last: action.element, nudge: '' }
    case 'close':
      return { ...state, field: '' }
    case 'type':
      return keepTyped(f, state, action.text, action.then ?? '')
    case 'stands for': {
      const row = state.rows[state.active]!
      return row.c ? state : storeRow(state, { ...row, standsFor: row.standsFor === action.value ? '' : action.value }, 'c')
    }
    case 'again':
      return reuseLast(f, state)
    case 'remove':
      return removed(state, action.row)
    case 'blank': {
      const element = action.element ?? state.last
      return element && state.rows[state.active]![element] ? storeRow(state, withElement(state.rows[state.active]!, element, null), element) : state
    }
    case 'flip': {
      const element = action.element ?? state.last
      const said = element && state.rows[state.active]![element]
      const other = said && flipped(said, f.text)
      return element && other ? storeRow(state, withElement(state.rows[state.active]!, element, other), element) : state
    }
    case 'go': {
      const isOther = action.row >= 0 && action.row < state.rows.length && action.row !== state.active
      // Clear a selection that has filled an element; keep one that waits for its element.
      const selection = state.filled ? clear(state.selection) : state.selection
      return isOther ? { ...state, active: action.row, last: '', field: '', filled: null, selection } : state
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

/** Replace the active proposition, as an undo step. */
function storeRow(state: State, row: Proposition, last: ElementKey): State {
  const rows = state.rows.map((r, n) => (n === state.active ? row : r))
  return { ...state, rows, last, nudge: '', warned: false, trail: [...state.trail, step(state)] }
}

function withElement(row: Proposition, element: ElementKey, said: ElementInput | null): Proposition {
  const standsFor = element === 'c' && said ? '' : row.standsFor
  return { ...row, [element]: said, standsFor, copy: row.copy === 'waits' && element === 'o' ? 'told' : row.copy }
}

/** A selection by mouse fills the next element; with Ctrl it adds a part to the element filled last. */
function dragged(f: Facts, state: State, action: SelectAction & { do: 'drag' }): State {
  const row = state.rows[state.active]!
  const before = state.last && row[state.last]
  if (action.keepEarlier && state.last && before && before.ranges.length) {
    const alone = select({ selection: emptySelection, finding: null }, f.text, f.words, { ...action, keepEarlier: false })
    const more = [...before.ranges, ...selected(alone.selection, f.words)]
    return { ...storeRow(state, withElement(row, state.last, inputOfRanges(f.text, more)), state.last), selection: clear(alone.selection), filled: null }
  }
  const now = { ...state, ...select(state, f.text, f.words, action), filled: null }
  const element = waiting(state)
  const chosen = selected(now.selection, f.words)
  if (action.keepEarlier || now.selection.kept.length || !element || !chosen.length || now.selection === state.selection) return now
  return { ...storeRow(now, withElement(row, element, inputOfRanges(f.text, chosen)), element), filled: { element, was: row[element], copy: row.copy } }
}

function filled(f: Facts, state: State, element: ElementKey, add: boolean): State {
  const chosen = selected(state.selection, f.words)
  if (!chosen.length) return reduce(f, state, { do: 'open', element })
  const first = state.rows[state.active]!
  const back = state.filled && state.filled.element !== element ? state.filled : null
  const row = back ? { ...first, [back.element]: back.was, copy: back.copy } : first
  const said = inputOfRanges(f.text, add ? [...(row[element]?.ranges ?? []), ...chosen] : chosen)
  return { ...storeRow(state, withElement(row, element, said), element), selection: clear(state.selection), finding: null, filled: null }
}

function keepTyped(f: Facts, state: State, text: string, then: ElementKey | ''): State {
  if (!state.field) return state
  const element = state.field
  const row = state.rows[state.active]!
  const said = inputOfText(text, f.text)
  const unchanged = (said?.text ?? '') === (row[element]?.text ?? '')
  const after = unchanged ? state : storeRow(state, withElement(row, element, said), element)
  return { ...after, field: then, last: then || element, filled: null, selection: clear(state.selection) }
}

function reuseLast(f: Facts, state: State): State {
  const chosen = state.filled ? [] : selected(state.selection, f.words)
  const copy: Proposition = { ...state.rows[state.active]!, copy: 'waits' }
  const row = chosen.length ? withElement(copy, 'o', inputOfRanges(f.text, chosen)) : copy
  const rows = [...state.rows.slice(0, state.active + 1), row, ...state.rows.slice(state.active + 1)]
  return {
    ...state, rows, active: state.active + 1, last: 'o', trail: [...state.trail, step(state)],
    selection: clear(state.selection), finding: null, filled: null, nudge: '', warned: false,
  }
}

function removed(state: State, row: number): State {
  const remaining = state.rows.filter((_, n) => n !== row)
  const rows = remaining.length ? remaining : [EMPTY]
  const active = Math.min(row < state.active ? state.active - 1 : state.active, rows.length - 1)
  return {
    ...state, rows, active, last: '', field: '', trail: [...state.trail, step(state)],
    selection: clear(state.selection), filled: null, nudge: '', warned: false,
  }
}

function next(state: State): State {
  const at = (active: number, nudge: string): State => ({ ...state, active, nudge, last: active === state.active ? state.last : '', filled: null })
  const duplicateIndex = state.rows.findIndex((_, n) => twin(state.rows, n) >= 0)
  if (duplicateIndex >= 0) return at(duplicateIndex, `Proposition ${duplicateIndex + 1} equals proposition ${twin(state.rows, duplicateIndex) + 1}. Change an element, or remove the proposition (X).`)
  const blank = state.rows.findIndex((row) => ORDER.every((element) => !row[element]))
  if (blank >= 0) return at(blank, `Proposition ${blank + 1} is blank. Fill an element${state.rows.length > 1 ? ', or remove the proposition (X)' : ''}.`)
  const lacks = state.rows.findIndex((row) => !row.i || !row.o)
  if (lacks >= 0 && !state.warned) {
    const element: ElementKey = state.rows[lacks]!.i ? 'o' : 'i'
    return { ...at(lacks, `${ELEMENTS[element]} of proposition ${lacks + 1} is blank. Fill it, or press Enter again to leave it blank.`), warned: true }
  }
  return { ...state, trail: [...state.trail, step(state)], nudge: '', complete: true }
}

export function toValue(text: string, rows: readonly Proposition[]): Value {
  return {
    tuples: rows.map((row) => ({
      p: toElement(row.p, text), i: toElement(row.i, text), o: toElement(row.o, text),
      c: { ...toElement(row.c, text), stands_for: row.c ? '' : row.standsFor },
    })),
  }
}

/** "In adults: bevacizumab, against ranibizumab → visual acuity". */
export function read(row: Record<ElementKey, { text: string } | null>, standsFor: string): string {
  const text = (element: ElementKey) => row[element]?.text ?? ''
  const against = text('c') || (standsFor === 'not stated' ? '' : standsFor)
  return `${text('p') && `In ${text('p')}: `}${text('i') || '…'}${against && `, against ${against}`} → ${text('o') || '…'}`
}

export function inWords(value: Value | null): string {
  return value ? value.tuples.map((row) => read(row, row.c.stands_for ?? '')).join('; ') : ''
}
