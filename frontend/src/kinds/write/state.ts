/** The summaries of a question, step by step, as a pure reducer. Typing and chunks share one undo. */

import { toWire, fromWire } from '../../text/offsets.ts'
import { sentenceCount, wordCount } from './written.ts'
import type { Schemas } from '../../api/client.ts'
import { drop, joined, move, remove, startFrom, take, textOf, type Chunk } from './chunks.ts'
import { squeezed, type Card } from './structure.ts'

export type Value = Schemas['WriteValue']
export type Form = Card['asked_steps'][number]['form']

/** One summary that is asked: of a passage (its index in the card), or of all (null). */
export interface Step {
  readonly passage: number | null
  readonly form: Form
  readonly limit: number | null
}

export interface Facts {
  readonly card: Card
  readonly steps: readonly Step[]
}

/** Name of all passages in the API. */
const ALL = ''
const indexOf = (card: Card, key: string) => card.passages.findIndex((p) => p.key === key)
const keyOf = (card: Card, passage: number | null) => (passage === null ? ALL : card.passages[passage]!.key)

export function factsOf(card: Card): Facts {
  return { card, steps: card.asked_steps.map((s) => ({ ...s, passage: s.passage === ALL ? null : indexOf(card, s.passage) })) }
}

/** What is written at a step. */
export interface Entry {
  /** Of an extractive summary. */
  readonly chunks: readonly Chunk[]
  /** Of an abstractive summary. */
  readonly text: string
  readonly nothing: boolean
  /** Whether the person went on from it since the last change. */
  readonly done: boolean
}
const EMPTY: Entry = { chunks: [], text: '', nothing: false, done: false }

/** One undo step: the step at which it happened, and the entries before it. */
interface Change {
  readonly at: number
  readonly before: Readonly<Record<number, Entry>>
  /** When its typing began and last went on, in milliseconds; typing without a pause is one undo step. */
  readonly typed?: readonly [number, number]
}

export interface State {
  /** Index of the current step; the number of steps: the last look. */
  readonly at: number
  readonly entries: readonly Entry[]
  readonly trail: readonly Change[]
  /** Undone changes. */
  readonly undone: readonly Change[]
  /** Where the caret belongs after an insertion or undo, or null. */
  readonly caret: number | null
  /** Why the page did not go on, and the step concerned. */
  readonly refusal: { readonly says: string; readonly step: number } | null
  /** Whether all is submitted. */
  readonly complete: boolean
}

export type Action =
  | { do: 'take' | 'drop'; range: Chunk }
  | { do: 'move'; index: number; by: number }
  | { do: 'remove'; index: number }
  | { do: 'type'; text: string; time: number }
  | { do: 'insert'; text: string; from: number; to: number }
  | { do: 'nothing' }
  | { do: 'start from chunks' }
  | { do: 'go'; at: number }
  | { do: 'next' }
  | { do: 'undo' }
  | { do: 'redo' }

/** Milliseconds of a pause, and of typing at a stretch, after which further typing is another undo step. */
const PAUSE = 1000
const STRETCH = 4000
const KEPT_CHANGES = 200
const DRAFT_CHANGES = 50

export type Draft = Pick<State, 'at' | 'entries' | 'trail' | 'undone'>

/** Draft of a unit that is left. */
export function toDraft({ at, entries, trail, undone }: State): Draft {
  return { at, entries, trail: trail.slice(-DRAFT_CHANGES), undone: undone.slice(-DRAFT_CHANGES) }
}

/** Initial state: the draft, otherwise the answer, which opens at the last look. */
export function begin(facts: Facts, draft: unknown): State {
  const rest = { caret: null, refusal: null, complete: false }
  const { steps, card } = facts
  if (isDraft(draft) && draft.entries.length === steps.length) return { ...toDraft(draft as State), ...rest }
  const entries = card.value ? fromValue(facts, card.value) : steps.map(() => EMPTY)
  return { at: card.value ? steps.length : 0, entries, trail: [], undone: [], ...rest }
}

function isDraft(draft: unknown): draft is Draft {
  return typeof draft === 'object' && draft !== null && 'entries' in draft && 'trail' in draft
}

// ---- values ----

function fromValue({ card, steps }: Facts, value: Value): Entry[] {
  return steps.map((step) => {
    const given = value.steps.find((s) => s.passage === keyOf(card, step.passage) && s.form === step.form)
    if (!given) return EMPTY
    const chunks = (given.chunks ?? []).map((c) => {
      const passage = indexOf(card, c.passage)
      return { passage, ...fromWire(card.passages[passage]!.text, [c])[0]! }
    })
    return { chunks, text: step.form === 'abstractive' ? given.text : '', nothing: given.nothing, done: true }
  })
}

export function toValue(facts: Facts, { entries }: Pick<State, 'entries'>): Value {
  const { card } = facts
  return {
    steps: facts.steps.map(({ passage, form }, n) => ({
      passage: keyOf(card, passage),
      form,
      text: writtenText(facts, entries, n),
      nothing: entries[n]!.nothing,
      chunks: entries[n]!.chunks.map((c) => ({ ...toWire(card.passages[c.passage]!.text, [c])[0]!, passage: keyOf(card, c.passage) })),
    })),
  }
}

// ---- reading a state ----

/** The text of a step. */
export function writtenText({ card, steps }: Facts, entries: readonly Entry[], n: number): string {
  const entry = entries[n]!
  return steps[n]!.form === 'extractive' ? joined(card.passages, entry.chunks, card.joiner) : entry.text
}

/** Index of the extractive step of the same passages, whose chunks the source shows; -1 if it is not asked. */
export const extractiveOf = ({ steps }: Facts, at: number): number =>
  steps.findIndex((s) => s.form === 'extractive' && s.passage === (steps[at]?.passage ?? null))

export interface Counts {
  readonly words: number
  readonly sentences: number
  /** By how much the text exceeds its limit; 0 or less: it does not. */
  readonly over: number
}

const counted = new WeakMap<Entry, Counts>()

/** Words and sentences of a step's text, by the same rule as on the server. */
export function countsOf(facts: Facts, entries: readonly Entry[], n: number): Counts {
  const entry = entries[n]!
  const known = counted.get(entry)
  if (known) return known
  const text = writtenText(facts, entries, n)
  const words = wordCount(text), sentences = sentenceCount(text)
  const { limit } = facts.steps[n]!
  const counts = { words, sentences, over: limit === null ? 0 : (facts.card.limit_unit === 'words' ? words : sentences) - limit }
  if (entry !== EMPTY) counted.set(entry, counts)
  return counts
}

export type Status = 'open' | 'begun' | 'done' | 'nothing relevant'

export function statusOf(facts: Facts, { entries }: Pick<State, 'entries'>, n: number): Status {
  const entry = entries[n]!
  if (entry.nothing) return 'nothing relevant'
  if (entry.done) return 'done'
  return entry.chunks.length || entry.text.trim() ? 'begun' : 'open'
}

/** "Passage 2 of 4, extractive". */
export function nameOf({ steps, card }: Facts, n: number): string {
  const step = steps[n]
  if (!step) return 'Last look'
  return `${step.passage === null ? 'All passages' : `Passage ${step.passage + 1} of ${card.passages.length}`}, ${step.form}`
}

/** Why a step is not finished, or ''. */
export function faultOf(facts: Facts, { entries }: Pick<State, 'entries'>, n: number): string {
  const entry = entries[n]!
  if (entry.nothing) return ''
  const { form } = facts.steps[n]!
  if (form === 'extractive' ? !entry.chunks.length : !entry.text.trim()) return 'is empty'
  const { over } = countsOf(facts, entries, n)
  return over > 0 && facts.card.limits_refuse ? `has ${overInWords(facts, over)}` : ''
}

/** "3 words too many". */
export function overInWords({ card }: Facts, over: number): string {
  return `${over} ${over === 1 ? card.limit_unit.slice(0, -1) : card.limit_unit} too many`
}

/** Whether an abstractive text is the extractive one, unchanged. */
export function isCopy(facts: Facts, entries: readonly Entry[], n: number): boolean {
  const from = extractiveOf(facts, n)
  const text = entries[n]!.text
  return from >= 0 && facts.steps[n]!.form === 'abstractive' && text.trim() !== '' && squeezed(text) === squeezed(writtenText(facts, entries, from))
}

/** The texts that an abstractive summary can start from: the extractive one, and for all passages the abstractive ones. */
export function startsOf(facts: Facts, entries: readonly Entry[], n: number): { extractive: string; abstractive: string } {
  const { steps, card } = facts
  const step = steps[n]
  if (step?.form !== 'abstractive' || !card.starts_from_extractive) return { extractive: '', abstractive: '' }
  const from = extractiveOf(facts, n)
  const own = steps.flatMap((s, k) => (s.form === 'abstractive' && s.passage !== null ? [entries[k]!.text.trim()] : [])).filter(Boolean)
  return { extractive: from < 0 ? '' : squeezed(writtenText(facts, entries, from)), abstractive: step.passage === null ? own.join(' ') : '' }
}

/** The chunks of single passages, from which an extractive summary of all passages can start. */
export const chunksOfPassages = ({ steps }: Facts, entries: readonly Entry[]): Chunk[] =>
  steps.flatMap((s, n) => (s.form === 'extractive' && s.passage !== null ? entries[n]!.chunks : []))

// ---- changing it ----

/** Replace entries as one undo step. */
function change(state: State, entries: Readonly<Record<number, Entry>>, typed?: Change['typed']): State {
  const before = Object.fromEntries(Object.keys(entries).map((n) => [n, state.entries[Number(n)]!]))
  const last = state.trail.at(-1)
  const joins = typed && last?.typed && last.at === state.at && typed[1] - last.typed[1] < PAUSE && typed[1] - last.typed[0] < STRETCH
  const trail = joins
    ? [...state.trail.slice(0, -1), { ...last, typed: [last.typed![0], typed[1]] as const }]
    : [...state.trail, { at: state.at, before, ...(typed && { typed }) }].slice(-KEPT_CHANGES)
  return { ...state, entries: state.entries.map((e, n) => entries[n] ?? e), trail, undone: [], caret: null, refusal: null }
}

function withEntry(state: State, entry: Partial<Entry>, typed?: Change['typed']): State {
  return change(state, { [state.at]: { ...state.entries[state.at]!, nothing: false, done: false, ...entry } }, typed)
}

export function reduce(facts: Facts, state: State, action: Action): State {
  // A complete answer is being stored; ignore further keys.
  if (state.complete) return state
  const { passages } = facts.card
  const step = facts.steps[state.at]
  const entry = state.entries[state.at]
  switch (action.do) {
    case 'take':
      return withChunks(facts, state, (chunks) => take(passages, chunks, action.range))
    case 'drop':
      return withChunks(facts, state, (chunks) => drop(passages, chunks, action.range))
    case 'move':
      return withChunks(facts, state, (chunks) => move(chunks, action.index, action.by))
    case 'remove':
      return withChunks(facts, state, (chunks) => remove(chunks, action.index))
    case 'start from chunks':
      return withChunks(facts, state, (chunks) => startFrom(chunks, chunksOfPassages(facts, state.entries)))
    case 'type':
      if (step?.form !== 'abstractive' || action.text === entry!.text) return state
      return withEntry(state, { text: action.text }, [action.time, action.time])
    case 'insert': {
      if (step?.form !== 'abstractive' || !action.text) return state
      const before = entry!.text.slice(0, action.from)
      const head = before + (before && !/\s$/.test(before) ? ' ' : '') + action.text
      return { ...withEntry(state, { text: head + entry!.text.slice(action.to) }), caret: head.length }
    }
    case 'nothing':
      return step ? nothing(facts, state) : state
    case 'go':
      return action.at === state.at ? state : { ...state, at: action.at, caret: null, refusal: null }
    case 'next':
      return next(facts, state)
    case 'undo':
      return swap(state, 'trail', 'undone')
    case 'redo':
      return swap(state, 'undone', 'trail')
  }
}

function withChunks(facts: Facts, state: State, how: (chunks: readonly Chunk[]) => readonly Chunk[]): State {
  if (facts.steps[state.at]?.form !== 'extractive') return state
  const { chunks } = state.entries[state.at]!
  const after = how(chunks)
  return after === chunks ? state : withEntry(state, { chunks: after })
}

/** Mark that nothing is relevant, in both forms, or remove the mark. */
function nothing(facts: Facts, state: State): State {
  const { passage } = facts.steps[state.at]!
  const isNothing = !state.entries[state.at]!.nothing
  const both = facts.steps.flatMap((s, n) => (s.passage === passage ? [n] : []))
  return change(state, Object.fromEntries(both.map((n) => [n, { ...EMPTY, nothing: isNothing, done: isNothing }])))
}

/** Go to the next step that is not done; at the last look, submit. */
function next(facts: Facts, state: State): State {
  const all = facts.steps.map((_, n) => n)
  const isLook = state.at === all.length
  const wrong = (isLook ? all : [state.at]).find((n) => faultOf(facts, state, n))
  if (wrong !== undefined) {
    const fault = faultOf(facts, state, wrong)
    const says = isLook ? `Not submitted: ${nameOf(facts, wrong)}, ${fault}.` : fault === 'is empty'
      ? `${facts.steps[wrong]!.form === 'extractive' ? 'No chunk chosen. Choose one' : 'The text is empty. Write it'}, or mark “Nothing relevant”.`
      : `The text ${fault}. Shorten it to go on.`
    return { ...state, refusal: { says, step: wrong } }
  }
  if (isLook) return { ...state, refusal: null, complete: true }
  const entries = state.entries.map((e, n) => (n === state.at && !e.done ? { ...e, done: true } : e))
  const at = all.find((n) => n > state.at && !entries[n]!.done) ?? all.length
  return { ...state, entries, at, caret: null, refusal: null }
}

/** Take the last change of one list back, and put it on the other. */
function swap(state: State, from: 'trail' | 'undone', to: 'trail' | 'undone'): State {
  const last = state[from].at(-1)
  if (!last) return state
  const now = Object.fromEntries(Object.keys(last.before).map((n) => [n, state.entries[Number(n)]!]))
  const entries = state.entries.map((e, n) => last.before[n] ?? e)
  const caret = changedAt(state.entries[last.at]?.text ?? '', entries[last.at]?.text ?? '')
  return { ...state, at: last.at, entries, [from]: state[from].slice(0, -1), [to]: [...state[to], { at: last.at, before: now }], caret, refusal: null }
}

/** Where a text differs from another: the end of the change in the new text. */
function changedAt(old: string, now: string): number {
  let same = 0
  while (same < Math.min(old.length, now.length) && old[old.length - 1 - same] === now[now.length - 1 - same]) same++
  return now.length - same
}

/** A value in a few words. */
export function inWords(value: Value | null): string {
  if (!value) return ''
  const texts = value.steps.filter((s) => !s.nothing)
  const words = texts.reduce((sum, s) => sum + wordCount(s.text), 0)
  return `${texts.length} ${texts.length === 1 ? 'text' : 'texts'}, ${words} ${words === 1 ? 'word' : 'words'}`
}

export { textOf }
