/** Marking populations, interventions and outcomes in an abstract, as a pure reducer. Offsets are UTF-16 units. */

import type { Schemas } from '../../api/client.ts'
import { ELEMENTS } from '../../pico/elements.ts'
import { fromWire, step as stepBy, toWire, type Range } from '../../text/offsets.ts'
import { overlaps } from '../../text/segments.ts'
import { clear, emptySelection, piece, type Selection } from '../../text/selection.ts'
import { before, LANES, type Edge, type Element, type Facts, type LaneAction, type Span } from '../lanes.ts'
import { select, type Selecting } from '../selecting.ts'

export type Card = Schemas['EntityCard']
export type Value = Schemas['EntityValue']

export const FIELDS = { p: 'population_spans', i: 'intervention_spans', o: 'outcome_spans' } as const

export type Rejected = Omit<Span, 'id' | 'origin'>

/** An undo step. */
export interface Step {
  readonly spans: readonly Span[]
  readonly rejected: readonly Rejected[]
  readonly cursor: number
}

export interface State extends Step, Selecting {
  /** Id of the chosen span, or null. */
  readonly active: number | null
  /** What Shift and an arrow key move. */
  readonly edge: Edge
  /** The element that every selection by mouse becomes, or null. */
  readonly pen: Element | null
  readonly hidden: readonly Element[]
  readonly nudge: string
  /** Whether the person was warned about undecided or missing spans; Enter then continues. */
  readonly warned: boolean
  readonly trail: readonly Step[]
  readonly complete: boolean
}

export type Action =
  | LaneAction
  /** Mark the selection or the word at the cursor, or change the chosen span. */
  | { do: 'mark'; element: Element }
  /** The button of an element: like its key, or else switch the pen. */
  | { do: 'press'; element: Element }
  /** Choose the next span at the cursor, innermost first; after the last one, none. */
  | { do: 'cycle'; back: boolean }
  | { do: 'edge' }
  | { do: 'suggestion'; back: boolean }
  | { do: 'accept' }
  | { do: 'reject' }
  | { do: 'remove' }
  | { do: 'lane'; element: Element }
  | { do: 'undo' }
  | { do: 'next' }

const inOrder = (spans: readonly Span[]) => [...spans].sort(before)

/** Initial state: the answer, otherwise the suggestions. */
export function begin(f: Facts, { value, suggestions }: Pick<Card, 'value' | 'suggestions'>): State {
  let id = 0
  const rangeOf = (one: { start: number; end: number }) => fromWire(f.text, [one])[0]!
  const answered = LANES.flatMap((element) =>
    (value?.[FIELDS[element]] ?? []).map((one): Span => ({ id: id++, element, ...rangeOf(one), origin: one.suggestion || 'own' })),
  )
  const suggested = value ? [] : (suggestions ?? []).map((one): Span => ({ id: id++, element: one.element, ...rangeOf(one), origin: 'suggested' }))
  const rejected = (value?.rejected_spans ?? []).map((one) => ({ element: one.element, ...rangeOf(one) }))
  return fresh({ spans: inOrder([...answered, ...suggested]), rejected, cursor: 0 })
}

/** The state of a draft or of a text that was left; null if it is neither. */
export function resumed(draft: unknown): State | null {
  const stored = draft as { said?: Step; trail?: Step[] } | null
  return stored?.said?.spans ? { ...fresh(stored.said), trail: stored.trail ?? [] } : null
}

function fresh(step: Step): State {
  return {
    ...step, selection: { ...emptySelection, cursor: step.cursor }, finding: null, active: null, edge: 'end', pen: null, hidden: [],
    nudge: '', warned: false, trail: [], complete: false,
  }
}

export function step({ spans, rejected, selection }: Pick<State, 'spans' | 'rejected' | 'selection'>): Step {
  return { spans, rejected, cursor: selection.cursor }
}

/** The spans at a word that are shown, innermost first. */
export function spansAt({ spans, hidden }: Pick<State, 'spans' | 'hidden'>, word: Range | undefined): Span[] {
  const at = word ? spans.filter((s) => !hidden.includes(s.element) && overlaps(s, word)) : []
  return at.sort((a, b) => a.end - a.start - (b.end - b.start) || before(a, b))
}

export function chosen(state: State): Span | null {
  return state.spans.find((s) => s.id === state.active) ?? null
}

export function suggestionsLeft(state: Pick<State, 'spans'>): number {
  return state.spans.filter((s) => s.origin === 'suggested').length
}

export function toValue(text: string, state: Pick<State, 'spans' | 'rejected'>): Value {
  const decided = state.spans.filter((s) => s.origin !== 'suggested')
  const of = (element: Element) =>
    decided.filter((s) => s.element === element).map((s) => ({ ...toWire(text, [s])[0]!, suggestion: s.origin === 'accepted' || s.origin === 'edited' ? s.origin : '' as const }))
  return {
    population_spans: of('p'), intervention_spans: of('i'), outcome_spans: of('o'),
    rejected_spans: state.rejected.map((r) => ({ ...toWire(text, [r])[0]!, element: r.element })),
  }
}

const short = (text: string) => (text.length > 60 ? `${text.slice(0, 40)} … ${text.slice(-16)}` : text)
const named = (f: Facts, s: Rejected) => `${ELEMENTS[s.element]}: “${short(f.text.slice(s.start, s.end))}”`
const wordOf = (f: Facts, offset: number) => Math.max(0, f.words.findIndex((w) => w.end > offset))
const isPunctuation = (f: Facts, word: number) => !/[\p{L}\p{N}]/u.test(f.text.slice(f.words[word]!.start, f.words[word]!.end))

export function reduce(f: Facts, state: State, action: Action): State {
  const now = { ...state, nudge: '', warned: false }
  const active = chosen(state)
  switch (action.do) {
    case 'move':
      if (action.extend && active) return moveEdge(f, now, active, action.to > state.selection.cursor ? 1 : -1)
      return released(now, select(state, f.text, f.words, action.extend ? action : { ...action, to: skipped(f, state.selection.cursor, action.to) }), !action.extend)
    case 'adjust':
      if (active) return moveCharacter(f, now, active, action.edge, action.by)
      return { ...now, ...select(state, f.text, f.words, action) }
    case 'drag': {
      const dragged = released(now, select(state, f.text, f.words, action), false)
      return state.pen ? mark(f, dragged, state.pen) : dragged
    }
    case 'mark':
      return active && !piece(state.selection, f.words) ? changed(f, now, active, action.element) : mark(f, now, action.element)
    case 'press':
      if (active || piece(state.selection, f.words)) return reduce(f, state, { do: 'mark', element: action.element })
      return { ...now, pen: state.pen === action.element ? null : action.element }
    case 'choose':
      return choose(f, now, state.spans.find((s) => s.id === action.id))
    case 'cycle':
      return cycle(f, now, action.back)
    case 'edge':
      if (!active) return { ...now, nudge: 'Choose a span with Tab.' }
      return { ...now, edge: ({ end: 'start', start: 'both', both: 'end' } as const)[state.edge] }
    case 'pull':
      return active ? pull(f, now, active, action.edge, action.word) : state
    case 'suggestion':
      return nextSuggestion(f, now, action.back)
    case 'accept':
      if (!active) return { ...now, nudge: 'Choose a suggestion with N.' }
      return nextSuggestion(f, active.origin === 'suggested' ? replaced(now, active, { origin: 'accepted' }) : now, false)
    case 'reject':
      if (!active) return { ...now, nudge: 'Choose a suggestion with N.' }
      return active.origin === 'suggested' ? nextSuggestion(f, removed(f, now, active), false) : removed(f, now, active)
    case 'remove': {
      const span = active ?? spansAt(state, f.words[state.selection.cursor])[0]
      return span ? removed(f, now, span) : { ...now, nudge: 'No span at the cursor.' }
    }
    case 'lane':
      return { ...now, active: active?.element === action.element ? null : state.active,
        hidden: state.hidden.includes(action.element) ? state.hidden.filter((e) => e !== action.element) : [...state.hidden, action.element] }
    case 'undo': {
      const last = state.trail.at(-1)
      if (!last) return state
      return { ...now, ...last, trail: state.trail.slice(0, -1), active: null, selection: { ...emptySelection, cursor: last.cursor } }
    }
    case 'next':
      return next(state)
    case 'let go':
      return released(now, select(state, f.text, f.words, action), true)
    default:
      return released(now, select(state, f.text, f.words, action), false)
  }
}

function next(state: State): State {
  const left = suggestionsLeft(state)
  const asks = left
    ? `${left} ${left === 1 ? 'suggestion is' : 'suggestions are'} undecided and will not count. Press Enter again to go on.`
    : state.spans.length ? '' : 'Nothing is marked. Press Enter again if the text names nothing.'
  return asks && !state.warned ? { ...state, nudge: asks, warned: true } : { ...state, complete: true, nudge: '' }
}

/** Plain arrow keys pass over words that are punctuation only. */
function skipped(f: Facts, from: number, to: number): number {
  if (Math.abs(to - from) !== 1) return to
  let at = to
  while (at >= 0 && at < f.words.length && isPunctuation(f, at)) at += to - from
  return at >= 0 && at < f.words.length ? at : from
}

/** The new selection; moving without Shift only moves the cursor. */
function released(state: State, selecting: Selecting, clears: boolean): State {
  const selection: Selection = clears ? clear(selecting.selection) : selecting.selection
  return { ...state, ...selecting, selection, active: null, edge: 'end' }
}

function stored(state: State, spans: readonly Span[], rejected = state.rejected): State {
  return { ...state, spans: inOrder(spans), rejected, trail: [...state.trail, step(state)] }
}

function replaced(state: State, span: Span, change: Partial<Span>): State {
  return stored(state, state.spans.map((s) => (s === span ? { ...s, ...change } : s)))
}

/** A suggestion that is changed counts as edited. */
const origin = (span: Span): Span['origin'] => (span.origin === 'own' ? 'own' : 'edited')

function mark(f: Facts, state: State, element: Element): State {
  const range = piece(state.selection, f.words) ?? f.words[state.selection.cursor]
  if (!range) return state
  const selection = clear(state.selection)
  const same = state.spans.find((s) => s.element === element && s.start === range.start && s.end === range.end)
  if (same?.origin === 'suggested') return { ...replaced(state, same, { origin: 'accepted' }), selection, nudge: named(f, same) }
  if (same) return { ...state, selection, nudge: `These words are marked as ${ELEMENTS[element].toLowerCase()} already.` }
  const span: Span = { id: 1 + Math.max(-1, ...state.spans.map((s) => s.id), ...state.trail.flatMap((t) => t.spans.map((s) => s.id))), element, start: range.start, end: range.end, origin: 'own' }
  return { ...stored(state, [...state.spans, span]), selection, nudge: named(f, span) }
}

function changed(f: Facts, state: State, span: Span, element: Element): State {
  if (span.element === element || exists(state, { ...span, element })) return { ...state, nudge: `This span is marked as ${ELEMENTS[element].toLowerCase()} already.` }
  return { ...replaced(state, span, { element, origin: origin(span) }), nudge: named(f, { ...span, element }) }
}

const exists = (state: State, range: Rejected, but?: Span) =>
  state.spans.some((s) => s !== but && s.element === range.element && s.start === range.start && s.end === range.end)

function resized(f: Facts, state: State, span: Span, range: Range, at: number): State {
  if (range.start >= range.end || (range.start === span.start && range.end === span.end)) return { ...state, nudge: 'The span cannot get smaller or move further.' }
  if (exists(state, { element: span.element, ...range }, span)) return { ...state, nudge: 'Another span of this element has the same words.' }
  const moved = replaced(state, span, { ...range, origin: origin(span) })
  return { ...moved, selection: { ...emptySelection, cursor: at }, nudge: named(f, { element: span.element, ...range }) }
}

function moveEdge(f: Facts, state: State, span: Span, by: 1 | -1): State {
  const first = wordOf(f, span.start) + (state.edge === 'end' ? 0 : by)
  const last = wordOf(f, span.end - 1) + (state.edge === 'start' ? 0 : by)
  if (first < 0 || last >= f.words.length || first > last) return { ...state, nudge: 'The span cannot get smaller or move further.' }
  const range = { start: state.edge === 'end' ? span.start : f.words[first]!.start, end: state.edge === 'start' ? span.end : f.words[last]!.end }
  return resized(f, state, span, range, state.edge === 'start' ? first : last)
}

function moveCharacter(f: Facts, state: State, span: Span, edge: 'start' | 'end', by: 1 | -1): State {
  const range = { start: span.start, end: span.end, [edge]: stepBy(f.text, span[edge], by) }
  return resized(f, { ...state, edge }, span, range, wordOf(f, edge === 'start' ? range.start : range.end - 1))
}

function pull(f: Facts, state: State, span: Span, edge: 'start' | 'end', word: number): State {
  const range = { start: span.start, end: span.end, [edge]: f.words[word]![edge] }
  return range.start < range.end && range[edge] !== span[edge] ? resized(f, { ...state, edge }, span, range, word) : state
}

function removed(f: Facts, state: State, span: Span): State {
  const rejected = span.origin === 'own' ? state.rejected : [...state.rejected, { element: span.element, start: span.start, end: span.end }]
  const spans = state.spans.filter((s) => s !== span)
  const selection = { ...emptySelection, cursor: wordOf(f, span.start) }
  return { ...stored(state, spans, span.origin === 'edited' ? state.rejected : rejected), selection, active: null, nudge: `${span.origin === 'suggested' ? 'Rejected' : 'Deleted'}. ${named(f, span)}` }
}

function choose(f: Facts, state: State, span: Span | undefined): State {
  if (!span) return { ...state, active: null, edge: 'end' }
  return { ...state, active: span.id, edge: 'end', selection: { ...emptySelection, cursor: wordOf(f, span.start) }, hidden: state.hidden.filter((e) => e !== span.element) }
}

function cycle(f: Facts, state: State, back: boolean): State {
  const at = spansAt(state, f.words[state.selection.cursor])
  const index = at.findIndex((s) => s.id === state.active)
  const found = at[index < 0 ? (back ? at.length - 1 : 0) : index + (back ? -1 : 1)]
  return { ...state, active: found?.id ?? null, edge: 'end', selection: clear(state.selection) }
}

function nextSuggestion(f: Facts, state: State, back: boolean): State {
  const left = state.spans.filter((s) => s.origin === 'suggested' && !state.hidden.includes(s.element))
  if (!left.length) return { ...state, active: null, nudge: 'No suggestion left.' }
  const active = chosen(state)
  const from = active ?? { start: f.words[state.selection.cursor]?.start ?? 0, end: Infinity, element: 'p' as const }
  const found = back ? left.findLast((s) => before(s, from) < 0) ?? left.at(-1) : left.find((s) => before(s, from) > 0 || (!active && s.start === from.start)) ?? left[0]
  return { ...choose(f, state, found), nudge: state.nudge }
}

export function inWords(value: Value | null): string {
  if (!value) return ''
  const counts = LANES.map((element) => `${value[FIELDS[element]].length} ${ELEMENTS[element].toLowerCase()}`)
  return counts.join(', ')
}
