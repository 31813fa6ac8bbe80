/** A page of texts, and where its rater is: what has been said of which text, what is marked and selected. Pure. */

import { items, type Criterion, type Item, type Page, type Protocol } from '../../rating/protocol.ts'
import { sentencesOf } from '../../rating/source.ts'
import type { Range } from '../../text/offsets.ts'
import { nothing, type Selection } from '../../text/selection.ts'
import { words } from '../../text/words.ts'
import { asked, derived, firstOpen, isShown, saidOf, type Answers, type Said } from './answers.ts'

/** What does not change while a page is being rated. */
export interface Facts {
  readonly page: Page
  readonly protocol: Protocol
  readonly items: readonly Item[]
  readonly words: readonly (readonly Range[])[]
  /** Sentences of the studies, one after another. */
  readonly sentences: readonly { readonly study: number; readonly range: Range }[]
}

/** A passage of the source: sentences by the keyboard, words by the mouse. */
export interface Passage {
  readonly study: number
  readonly range: Range
}
/** What a mark is still asked for. */
export interface Pending {
  readonly criterion: string
  readonly span: number
  readonly ask: 'category' | 'severity' | 'reason'
}

/** What undo brings back. */
export interface Step {
  /** What was said of each text, in the order of the page. */
  readonly answers: readonly Answers[]
  /** The text that is shown; one beyond the last is the last look. */
  readonly at: number
  /** The marked item; in the last look the marked text and criterion. */
  readonly item: number
  readonly row: number
}
export interface State extends Step {
  /** What each text had when the last look began; null before. */
  readonly before: readonly Answers[] | null
  /** Where the person's keys move: among the criteria, the words of the text or the sentences of the source. */
  readonly place: 'criteria' | 'summary' | 'source'
  readonly selection: Selection
  readonly finding: null | { extend: boolean }
  readonly sentence: number
  readonly anchor: number | null
  readonly passage: Passage | null
  readonly pending: Pending | null
  readonly nudge: string
  /** The field that is being typed in: its letters are one step of undo. */
  readonly typing: string
  readonly trail: readonly Step[]
  readonly complete: boolean
}

export function facts(page: Page): Facts {
  return {
    page, protocol: page.protocol, items: items(page.protocol), words: page.texts.map((t) => words(t.text)),
    sentences: sentencesOf(page.source.studies),
  }
}

export function begin(f: Facts, step?: Partial<Step> & { before?: State['before']; trail?: readonly Step[] }): State {
  const answers = step?.answers?.length === f.page.texts.length ? step.answers : f.page.texts.map(() => derived(f.protocol, {}, f.page.target))
  return shown(f, {
    answers, at: 0, item: 0, row: 0, before: null, place: 'criteria', selection: nothing, finding: null, sentence: 0, anchor: null, passage: null,
    pending: null, nudge: '', typing: '', trail: [], complete: false, ...step, ...(step ? { answers } : {}),
  })
}

export const step = ({ answers, at, item, row }: Step): Step => ({ answers, at, item, row })
/** What a draft keeps. */
export const kept = (s: State) => ({ ...step(s), before: s.before, trail: s.trail.slice(-60) })

export const isLastLook = (f: Facts, s: Step): boolean => s.at >= f.page.texts.length
/** The text that answers go to. */
export const rowOf = (f: Facts, s: Step): number => (isLastLook(f, s) ? s.row : s.at)
export const answersOf = (f: Facts, s: Step, row = rowOf(f, s)): Answers => s.answers[row] ?? {}
/** Criteria as they stand in the last look. */
export const columns = (f: Facts, answers: Answers): Criterion[] => f.protocol.criteria.filter((c) => isShown(f.protocol, c, answers))
export const isDone = (f: Facts, answers: Answers): boolean => firstOpen(f.protocol, f.items, answers) < 0

/** The criterion that keys act on; in a group by exception null. */
export function marked(f: Facts, s: State): Criterion | null {
  if (isLastLook(f, s)) return columns(f, answersOf(f, s))[s.item] ?? null
  const item = f.items[s.item]
  return item && !item.group ? item.criteria[0]! : null
}

/** The criterion that a mark of the text goes to. */
export function spansCriterion(f: Facts, s: State): Criterion | null {
  const now = marked(f, s)
  if (now?.scale.type === 'spans') return now
  return columns(f, answersOf(f, s)).find((c) => c.scale.type === 'spans') ?? null
}

/** The criterion that a quote or a reason goes to: of a group its first one that differs, or its first. */
export function evidenceCriterion(f: Facts, s: State): Criterion | null {
  const one = marked(f, s)
  if (one) return one
  const group = asked(f.protocol, f.items[s.item]!, answersOf(f, s))
  const differs = group.find((c) => saidOf(answersOf(f, s), c.key).value === c.scale.options[1]?.value)
  return differs ?? group[0] ?? null
}

/** Moves the marked item to one that is asked. */
export function shown(f: Facts, s: State): State {
  if (isLastLook(f, s)) return s
  const isOn = (n: number) => asked(f.protocol, f.items[n]!, answersOf(f, s)).length > 0
  if (!f.items[s.item] || isOn(s.item)) return s
  const found = f.items.findIndex((_, n) => n > s.item && isOn(n))
  return { ...s, item: found >= 0 ? found : f.items.findLastIndex((_, n) => isOn(n)) }
}

export function put(f: Facts, s: State, answers: Answers, row = rowOf(f, s)): State {
  const now = derived(f.protocol, answers, f.page.target)
  return { ...s, answers: s.answers.map((a, n) => (n === row ? now : a)), trail: [...s.trail, step(s)], nudge: '' }
}
export const withSaid = (answers: Answers, key: string, more: Partial<Said>): Answers => ({ ...answers, [key]: { ...saidOf(answers, key), ...more } })
