/** Labelling one proposition (values, cues and selection) as a pure reducer. */

import type { Schemas } from '../../api/client.ts'
import { fromWire, toWire, type Range } from '../../text/offsets.ts'
import { overlaps } from '../../text/segments.ts'
import { clear, emptySelection, selected, take, type Selection } from '../../text/selection.ts'
import { words } from '../../text/words.ts'
import { select, type SelectAction, type Selecting } from '../selecting.ts'

export type Card = Schemas['LabelCard']
export type Value = Schemas['LabelValue']
export type Polarity = Value['polarity']
export type Modality = Value['modality']
export type Aspect = 'polarity' | 'modality'

/** Facts of a proposition that do not change while it is labelled. */
export interface Facts {
  readonly text: string
  readonly words: readonly Range[]
  /** Candidate cues; null if the round does not show them. */
  readonly candidates: readonly Range[] | null
  /** Whether the round asks for cues; otherwise nothing is selected. */
  readonly asksCues: boolean
  /** A reopened answer: only Enter moves on, because a changed value need not be the last. */
  readonly revisit: boolean
}

/** The label so far. Polarity is `n/a` if and only if modality is `no evidence`, after every step. */
export interface Said {
  readonly polarity: Polarity | ''
  readonly modality: Modality | ''
  readonly polarityCue: readonly Range[]
  readonly modalityCue: readonly Range[]
}

/** An undo step. */
export interface Step extends Said {
  readonly selection: Selection
}

export interface State extends Step, Selecting {
  readonly nudge: string
  /** Index of the candidate selected last with N. */
  readonly candidate: number
  readonly trail: readonly Step[]
  /** Whether the answer can be stored; the page then moves on. */
  readonly complete: boolean
}

/** How a value was chosen. An arrow key in a radio group chooses but never moves on. */
export type By = 'key' | 'click' | 'arrow'

export type Action =
  | { do: 'polarity'; value: Polarity; by: By }
  | { do: 'modality'; value: Modality; by: By }
  | SelectAction
  | { do: 'candidate' }
  | { do: 'remove'; aspect: Aspect }
  | { do: 'remove here' }
  | { do: 'next' }
  | { do: 'undo' }

const SAID_NOTHING: Said = { polarity: '', modality: '', polarityCue: [], modalityCue: [] }

export function facts(card: Card, revisit: boolean): Facts {
  const candidates = card.candidates && fromWire(card.text, card.candidates)
  return { text: card.text, words: words(card.text), candidates, asksCues: card.asks_cues, revisit }
}

/** The state of a new proposition, or of one with a value. */
export function begin(text: string, value: Value | null = null): State {
  const said: Said = value
    ? {
        polarity: value.polarity,
        modality: value.modality,
        polarityCue: fromWire(text, value.polarity_cue ?? []),
        modalityCue: fromWire(text, value.modality_cue ?? []),
      }
    : SAID_NOTHING
  return { ...said, selection: emptySelection, finding: null, nudge: '', candidate: -1, trail: [], complete: false }
}

/** The state before the last step of a trail, when undo returns to an earlier proposition. */
export function resume(trail: readonly Step[]): State {
  const last = trail.at(-1)
  const state = begin('')
  return last ? { ...state, ...last, trail: trail.slice(0, -1) } : state
}

export function step(state: Step): Step {
  const { polarity, modality, polarityCue, modalityCue, selection } = state
  return { polarity, modality, polarityCue, modalityCue, selection }
}

/** The missing part before the page moves on by itself; only 'value' is mandatory. */
export function missing(s: Said, asksCues = true): '' | 'value' | 'polarity cue' | 'modality cue' {
  if (!s.polarity || !s.modality) return 'value'
  if (!asksCues) return ''
  if (s.polarity !== 'n/a' && !s.polarityCue.length) return 'polarity cue'
  if (s.modality !== 'moderate' && !s.modalityCue.length) return 'modality cue'
  return ''
}

/** Set a value, keeping `n/a` if and only if `no evidence`. Without a new cue the old one stays. */
export function withValue(said: Said, aspect: Aspect, value: Polarity | Modality, cue: readonly Range[] = []): Said {
  if (value === 'n/a' || value === 'no evidence') {
    return { polarity: 'n/a', modality: 'no evidence', polarityCue: [], modalityCue: cue.length ? cue : said.modalityCue }
  }
  if (aspect === 'modality') {
    const polarity = said.polarity === 'n/a' ? '' : said.polarity
    return { ...said, polarity, modality: value as Modality, modalityCue: cue.length ? cue : said.modalityCue }
  }
  const was = said.modality === 'no evidence'
  return {
    polarity: value as Polarity,
    polarityCue: cue.length ? cue : said.polarityCue,
    modality: was ? '' : said.modality,
    modalityCue: was ? [] : said.modalityCue,
  }
}

const WITHOUT_CUES = new Set<Action['do']>(['polarity', 'modality', 'next', 'undo'])

export function reduce(f: Facts, state: State, action: Action): State {
  // A complete answer is being stored; ignore further keys.
  if (state.complete) return state
  if (!f.asksCues && !WITHOUT_CUES.has(action.do)) return state
  switch (action.do) {
    case 'polarity':
    case 'modality':
      return value(f, state, action.do, action.value, action.by)
    case 'candidate': {
      if (!f.candidates?.length) return state
      const candidate = (state.candidate + 1) % f.candidates.length
      return { ...state, selection: take(state.selection, f.words, f.candidates[candidate]!), finding: null, candidate }
    }
    case 'remove':
      return removed(state, action.aspect)
    case 'remove here': {
      const at = f.words[state.selection.cursor]
      const aspect = (['polarity', 'modality'] as const).find((a) => at && cueOf(state, a).some((r) => overlaps(r, at)))
      return aspect ? removed(state, aspect) : state
    }
    case 'let go':
      return { ...state, ...select(state, f.text, f.words, action), nudge: '' }
    case 'next':
      return next(state)
    case 'undo':
      return state.trail.length ? resume(state.trail) : state
    default:
      return { ...state, ...select(state, f.text, f.words, action) }
  }
}

function value(f: Facts, state: State, aspect: Aspect, chosen: Polarity | Modality, by: By): State {
  const said = withValue(state, aspect, chosen, selected(state.selection, f.words))
  const after: State = {
    ...state, ...said, selection: clear(state.selection), finding: null, trail: [...state.trail, step(state)], nudge: '',
  }
  const lacks = missing(after, f.asksCues)
  if (!lacks && !f.revisit && by !== 'arrow') return { ...after, complete: true }
  return { ...after, nudge: lacks === 'value' ? '' : nudgeOf(after, lacks, f.revisit) }
}

function nudgeOf(said: Said, lacks: ReturnType<typeof missing>, revisit: boolean): string {
  if (!lacks) return revisit ? 'Press Enter to save the change.' : 'Complete. Press Enter to continue.'
  const of = lacks === 'polarity cue' ? said.polarity : said.modality
  return `No ${lacks} for '${of}'. Select it and choose the value again, or press Enter.`
}

function removed(state: State, aspect: Aspect): State {
  if (!cueOf(state, aspect).length) return state
  return { ...state, [aspect === 'polarity' ? 'polarityCue' : 'modalityCue']: [], trail: [...state.trail, step(state)], nudge: '' }
}

function next(state: State): State {
  if (!state.polarity) return { ...state, nudge: 'Polarity is not chosen yet: A, S or D.' }
  if (!state.modality) return { ...state, nudge: 'Modality is not chosen yet: 1, 2, 3 or 4.' }
  return { ...state, trail: [...state.trail, step(state)], complete: true, nudge: '' }
}

export function cueOf(said: Said, aspect: Aspect): readonly Range[] {
  return aspect === 'polarity' ? said.polarityCue : said.modalityCue
}

/** The words of a cue, its parts in order. */
export function quote(text: string, cue: readonly Range[]): string {
  return cue.map((r) => text.slice(r.start, r.end)).join(' … ')
}

/** The API value. Throws if the label is incomplete; check `missing` first. */
export function toValue(f: Pick<Facts, 'text' | 'candidates'>, said: Said): Value {
  if (!said.polarity || !said.modality) throw new Error('A label needs both values.')
  return {
    polarity: said.polarity,
    modality: said.modality,
    polarity_cue: toWire(f.text, said.polarityCue),
    modality_cue: toWire(f.text, said.modalityCue),
    ...(f.candidates ? { suggestions: fates(f.candidates, [...said.polarityCue, ...said.modalityCue]) } : {}),
  }
}

/** Outcomes of the candidates: accepted unchanged, edited, or rejected. */
export function fates(candidates: readonly Range[], cues: readonly Range[]): Schemas['Suggestions'] {
  const out = { accepted: 0, edited: 0, rejected: 0 }
  for (const c of candidates) {
    if (cues.some((r) => r.start === c.start && r.end === c.end)) out.accepted++
    else if (cues.some((r) => overlaps(r, c))) out.edited++
    else out.rejected++
  }
  return out
}
