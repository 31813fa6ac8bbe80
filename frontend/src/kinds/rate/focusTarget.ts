/** State of a rating page: answers, focus target, marks and selection. Pure functions. */

import { items, type Criterion, type Item, type Page, type Protocol } from '../../rating/protocol.ts'
import { sentencesOf } from '../../rating/source.ts'
import type { Range } from '../../text/offsets.ts'
import { emptySelection, type Selection } from '../../text/selection.ts'
import { words } from '../../text/words.ts'
import { askedCriteria, derived, firstOpen, isShown, saidOf, type Answers, type Said } from './answers.ts'

/** Facts of a page that do not change while it is rated. */
export interface Facts {
  readonly page: Page
  readonly protocol: Protocol
  readonly items: readonly Item[]
  readonly words: readonly (readonly Range[])[]
  /** Sentences of all studies, in order. */
  readonly sentences: readonly { readonly study: number; readonly range: Range }[]
}

/** A passage of the source: sentences selected by keyboard, words by mouse. */
export interface Passage {
  readonly study: number
  readonly range: Range
}
/** The open question about a mark. */
export interface Pending {
  readonly criterion: string
  readonly span: number
  readonly ask: 'category' | 'severity' | 'reason'
}

/** An undo step. */
export interface Step {
  /** Answers about each text, in the order of the page. */
  readonly answers: readonly Answers[]
  /** Index of the shown text; one beyond the last is the final check. */
  readonly at: number
  /** Index of the current item; in the final check `row` is the current text and `item` the criterion. */
  readonly item: number
  readonly row: number
}
export interface State extends Step {
  /** Answers when the final check began; null before. */
  readonly before: readonly Answers[] | null
  /** What arrow keys move between: criteria, words of the text or sentences of the source. */
  readonly place: 'criteria' | 'summary' | 'source'
  readonly selection: Selection
  readonly finding: null | { extend: boolean }
  readonly sentence: number
  readonly anchor: number | null
  readonly passage: Passage | null
  readonly pending: Pending | null
  readonly nudge: string
  /** The field that is being typed in; typing is one undo step. */
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
  return afterShowing(f, {
    answers, at: 0, item: 0, row: 0, before: null, place: 'criteria', selection: emptySelection, finding: null, sentence: 0, anchor: null, passage: null,
    pending: null, nudge: '', typing: '', trail: [], complete: false, ...step, ...(step ? { answers } : {}),
  })
}

export const step = ({ answers, at, item, row }: Step): Step => ({ answers, at, item, row })
/** Draft of an unfinished page. */
export const toDraft = (s: State) => ({ ...step(s), before: s.before, trail: s.trail.slice(-60) })

export const isLastLook = (f: Facts, s: Step): boolean => s.at >= f.page.texts.length
/** Index of the text that answers belong to. */
export const rowOf = (f: Facts, s: Step): number => (isLastLook(f, s) ? s.row : s.at)
export const answersOf = (f: Facts, s: Step, row = rowOf(f, s)): Answers => s.answers[row] ?? {}
/** The criteria asked, as shown in the final check. */
export const columns = (f: Facts, answers: Answers): Criterion[] => f.protocol.criteria.filter((c) => isShown(f.protocol, c, answers))
export const isDone = (f: Facts, answers: Answers): boolean => firstOpen(f.protocol, f.items, answers) < 0

/** The criterion that keys act on; null in a group by exception. */
export function markedCriterion(f: Facts, s: State): Criterion | null {
  if (isLastLook(f, s)) return columns(f, answersOf(f, s))[s.item] ?? null
  const item = f.items[s.item]
  return item && !item.group ? item.criteria[0]! : null
}

/** The criterion that a mark of the text belongs to. */
export function spansCriterion(f: Facts, s: State): Criterion | null {
  const now = markedCriterion(f, s)
  if (now?.scale.type === 'spans') return now
  return columns(f, answersOf(f, s)).find((c) => c.scale.type === 'spans') ?? null
}

/** The criterion that a quote or reason belongs to; in a group the first that differs, or the first. */
export function evidenceCriterion(f: Facts, s: State): Criterion | null {
  const one = markedCriterion(f, s)
  if (one) return one
  const group = askedCriteria(f.protocol, f.items[s.item]!, answersOf(f, s))
  const differs = group.find((c) => saidOf(answersOf(f, s), c.key).value === c.scale.options[1]?.value)
  return differs ?? group[0] ?? null
}

/** Move the focus to an item that is asked. */
export function afterShowing(f: Facts, s: State): State {
  if (isLastLook(f, s)) return s
  const isOn = (n: number) => askedCriteria(f.protocol, f.items[n]!, answersOf(f, s)).length > 0
  if (!f.items[s.item] || isOn(s.item)) return s
  const found = f.items.findIndex((_, n) => n > s.item && isOn(n))
  return { ...s, item: found >= 0 ? found : f.items.findLastIndex((_, n) => isOn(n)) }
}

export function withAnswers(f: Facts, s: State, answers: Answers, row = rowOf(f, s)): State {
  const now = derived(f.protocol, answers, f.page.target)
  return { ...s, answers: s.answers.map((a, n) => (n === row ? now : a)), trail: [...s.trail, step(s)], nudge: '' }
}
export const withSaid = (answers: Answers, key: string, more: Partial<Said>): Answers => ({ ...answers, [key]: { ...saidOf(answers, key), ...more } })
