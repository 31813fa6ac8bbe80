/** Rating the texts of one page: answers, what is selected and where the person is, as a pure reducer. */

import { items, type Criterion, type Item, type Option, type Page, type Protocol } from '../../rating/protocol.ts'
import { codesOfCell, asCell } from '../../rating/sets.ts'
import { sentencesOf } from '../../rating/source.ts'
import type { Range } from '../../text/offsets.ts'
import { overlaps } from '../../text/segments.ts'
import { clear, drag, jump, moveTo, nothing, piece, tap, type Selection } from '../../text/selection.ts'
import { words } from '../../text/words.ts'
import {
  asked, derived, firstOpen, isShown, lacks, MARKED, NONE, restSame, saidOf, type Answers, type Quote, type Said, type Span,
} from './answers.ts'

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

export type By = 'key' | 'click' | 'arrow'
export type Action =
  | { do: 'digit'; digit: number }
  | { do: 'choose'; criterion: string; value: string | null; na: boolean; by: By; row?: number }
  | { do: 'rest' }
  | { do: 'slide'; by: number }
  | { do: 'write'; criterion: string; text: string; row?: number }
  | { do: 'why'; criterion: string; text: string }
  | { do: 'go'; item?: number; row?: number }
  | { do: 'step'; by: 1 | -1; across?: boolean }
  | { do: 'text'; at: number }
  | { do: 'place'; place: State['place'] }
  | { do: 'word'; to: number; extend: boolean }
  | { do: 'find'; extend: boolean }
  | { do: 'letter'; letter: string; extend: boolean }
  | { do: 'tap'; word: number }
  | { do: 'drag'; range: Range; characters: boolean }
  | { do: 'sentence'; to: number; extend: boolean }
  | { do: 'passage'; study: number; range: Range; characters: boolean }
  | { do: 'let go' }
  | { do: 'quote' }
  | { do: 'mark' }
  | { do: 'mark reason'; text: string }
  | { do: 'ask reason'; criterion: string; span: number }
  | { do: 'remove'; criterion: string; what: 'span' | 'quote'; index: number }
  | { do: 'remove here' }
  | { do: 'next' }
  | { do: 'undo' }

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
function shown(f: Facts, s: State): State {
  if (isLastLook(f, s)) return s
  const isOn = (n: number) => asked(f.protocol, f.items[n]!, answersOf(f, s)).length > 0
  if (!f.items[s.item] || isOn(s.item)) return s
  const found = f.items.findIndex((_, n) => n > s.item && isOn(n))
  return { ...s, item: found >= 0 ? found : f.items.findLastIndex((_, n) => isOn(n)) }
}

function put(f: Facts, s: State, answers: Answers, row = rowOf(f, s)): State {
  const now = derived(f.protocol, answers, f.page.target)
  return { ...s, answers: s.answers.map((a, n) => (n === row ? now : a)), trail: [...s.trail, step(s)], nudge: '' }
}
const withSaid = (answers: Answers, key: string, more: Partial<Said>): Answers => ({ ...answers, [key]: { ...saidOf(answers, key), ...more } })

/** On to what is missing next; stays where nothing is, so that the last one can still be given evidence. */
function onward(f: Facts, s: State): State {
  if (isLastLook(f, s)) return s
  const here = asked(f.protocol, f.items[s.item]!, answersOf(f, s)).find((c) => lacks(c, saidOf(answersOf(f, s), c.key)))
  if (here && lacks(here, saidOf(answersOf(f, s), here.key)).startsWith('reason')) return { ...s, nudge: `Say why: ${here.name}. Press W.` }
  if (here && f.items[s.item]!.group) return s
  const open = firstOpen(f.protocol, f.items, answersOf(f, s), s.item)
  return open < 0 ? s : { ...s, item: open }
}

export function reduce(f: Facts, s: State, action: Action): State {
  // A complete answer is on its way into the outbox: a key pressed meanwhile changes nothing of it.
  if (s.complete) return s
  const typing = action.do === 'write' || action.do === 'why' ? `${action.do} ${action.criterion} ${rowOf(f, s)}` : ''
  const after = act(f, s, action)
  if (after === s) return s
  return typing && typing === s.typing ? { ...after, trail: s.trail } : { ...after, typing }
}

function act(f: Facts, s: State, action: Action): State {
  const select = (selection: Selection): State => ({ ...s, selection, finding: null, passage: null, anchor: null, nudge: '' })
  const own = f.words[s.at] ?? []
  switch (action.do) {
    case 'digit':
      return s.pending ? pendingDigit(f, s, action.digit) : digit(f, s, action.digit)
    case 'choose':
      return choose(f, s, action.criterion, action.value, action.na, action.by, action.row)
    case 'rest':
      return rest(f, s)
    case 'slide': {
      const now = marked(f, s)
      if (now?.scale.type !== 'slider') return s
      const { minimum, maximum, step: by } = sliderOf(now)
      const said = saidOf(answersOf(f, s), now.key).value
      const to = said === null ? (minimum + maximum) / 2 : Number(said) + action.by * by
      return choose(f, s, now.key, String(round(Math.max(minimum, Math.min(maximum, to)))), false, 'arrow')
    }
    case 'write': {
      const answers = answersOf(f, s, action.row)
      return put(f, s, withSaid(answers, action.criterion, { value: action.text === '' ? null : action.text, na: false, prefilled: false }), action.row)
    }
    case 'why':
      return put(f, s, withSaid(answersOf(f, s), action.criterion, { reason: action.text }))
    case 'go':
      return { ...s, item: action.item ?? s.item, row: action.row ?? s.row, nudge: s.item === (action.item ?? s.item) ? s.nudge : '' }
    case 'step':
      return move(f, s, action.by, action.across ?? false)
    case 'text':
      return action.at === s.at ? s : show(f, { ...s, trail: [...s.trail, step(s)] }, action.at)
    case 'place':
      return { ...s, place: action.place, finding: null }
    case 'word':
      return select(moveTo(s.selection, own, action.to, action.extend))
    case 'find':
      return { ...s, finding: { extend: action.extend }, nudge: 'Find: type the first letter of a word.' }
    case 'letter':
      return select(jump(s.selection, f.page.texts[s.at]?.text ?? '', own, action.letter, action.extend || (s.finding?.extend ?? false)))
    case 'tap':
      return select(tap(s.selection, own, action.word))
    case 'drag':
      return select(drag(clear(s.selection), own, action.range, { characters: action.characters }))
    case 'sentence':
      return sentence(f, s, action.to, action.extend)
    case 'passage': {
      const text = f.page.source.studies[action.study]?.text ?? ''
      const all = words(text)
      const one = piece(drag(nothing, all, action.range, { characters: action.characters }), all)
      return one ? { ...s, selection: clear(s.selection), anchor: null, passage: { study: action.study, range: one }, nudge: '' } : s
    }
    case 'let go':
      return { ...(s.pending ? withoutSpan(f, s, s.pending.criterion, s.pending.span) : s), selection: clear(s.selection), passage: null, anchor: null, finding: null, pending: null, nudge: '' }
    case 'quote':
      return quote(f, s)
    case 'mark':
      return mark(f, s)
    case 'mark reason': {
      if (!s.pending) return s
      const { criterion, span } = s.pending
      return onward(f, { ...setSpan(f, s, criterion, span, { reason: action.text.trim() }), pending: null })
    }
    case 'ask reason':
      return { ...s, pending: { criterion: action.criterion, span: action.span, ask: 'reason' } }
    case 'remove':
      return action.what === 'span' ? withoutSpan(f, s, action.criterion, action.index) : withoutQuote(f, s, action.criterion, action.index)
    case 'remove here':
      return removeHere(f, s)
    case 'next':
      return next(f, s)
    case 'undo': {
      const last = s.trail.at(-1)
      return last ? begin(f, { ...last, before: isLastLook(f, last) ? s.before : null, trail: s.trail.slice(0, -1) }) : s
    }
  }
}

export const round = (n: number): number => Number(n.toFixed(6))
export function sliderOf(criterion: Criterion): { minimum: number; maximum: number; step: number } {
  const { minimum, maximum, step: by } = criterion.scale
  return { minimum: minimum ?? 0, maximum: maximum ?? 100, step: by || 1 }
}

function digit(f: Facts, s: State, n: number): State {
  const criterion = marked(f, s)
  if (!criterion) {
    if (n === 1) return rest(f, s)
    const one = asked(f.protocol, f.items[s.item]!, answersOf(f, s))[n - 2]
    const differs = one?.scale.options[1]
    if (!one || !differs) return s
    const was = saidOf(answersOf(f, s), one.key).value === differs.value
    const after = put(f, s, withSaid(answersOf(f, s), one.key, { value: was ? null : differs.value, na: false, prefilled: false }))
    return { ...after, nudge: 'Press 1 when the others are the same.' }
  }
  if (n === 0) return criterion.na ? choose(f, s, criterion.key, null, true, 'key') : s
  const { type, options } = criterion.scale
  if (type === 'slider') {
    const { minimum, maximum, step: by } = sliderOf(criterion)
    const to = minimum + Math.round(((maximum - minimum) * n) / 10 / by) * by
    return choose(f, s, criterion.key, String(round(to)), false, 'key')
  }
  if (type === 'spans') return n === 1 ? choose(f, s, criterion.key, NONE, false, 'key') : n === 2 ? mark(f, s) : s
  const option = options[n - 1]
  return option && type !== 'text' ? choose(f, s, criterion.key, option.value, false, 'key') : s
}

function choose(f: Facts, s: State, key: string, value: string | null, na: boolean, by: By, at?: number): State {
  const row = at ?? rowOf(f, s)
  const criterion = f.protocol.criteria.find((c) => c.key === key)
  if (!criterion) return s
  const answers = answersOf(f, s, row)
  const said = saidOf(answers, key)
  if (criterion.scale.type === 'spans' && said.spans.length && (na || value === NONE)) {
    return { ...s, nudge: 'Words are marked. Remove the marks first: Backspace.' }
  }
  let to = value
  if (criterion.scale.type === 'multi-label' && value !== null) {
    const codes = codesOfCell(said.value ?? '')
    if (!codes.delete(value)) codes.add(value)
    to = codes.size ? asCell(codes) : null
  }
  const after = put(f, s, withSaid(answers, key, { value: to, na, prefilled: false }), row)
  const within = marked(f, after)?.key === key || f.items[after.item]?.criteria.some((c) => c.key === key)
  const here = within || isLastLook(f, s) ? after : { ...after, item: f.items.findIndex((i) => i.criteria.some((c) => c.key === key)) }
  const stays = by === 'arrow' || criterion.scale.type === 'multi-label' || criterion.scale.type === 'slider' && by !== 'key'
  return stays ? here : onward(f, here)
}

function rest(f: Facts, s: State): State {
  const item = f.items[s.item]
  return item?.group && !isLastLook(f, s) ? onward(f, put(f, s, restSame(f.protocol, item, answersOf(f, s), f.page.target))) : s
}

function move(f: Facts, s: State, by: 1 | -1, across: boolean): State {
  if (isLastLook(f, s)) {
    if (!across) return { ...s, row: Math.max(0, Math.min(f.page.texts.length - 1, s.row + by)) }
    return { ...s, item: Math.max(0, Math.min(columns(f, answersOf(f, s)).length - 1, s.item + by)) }
  }
  for (let n = s.item + by; f.items[n]; n += by) {
    if (asked(f.protocol, f.items[n]!, answersOf(f, s)).length) return { ...s, item: n, place: 'criteria', nudge: '' }
  }
  return s
}

/** Shows another text, or the last look, from the first thing that is missing there. */
function show(f: Facts, s: State, at: number): State {
  const calm: State = { ...s, at, item: 0, row: 0, place: 'criteria', selection: nothing, finding: null, anchor: null, passage: null, pending: null, nudge: '' }
  if (isLastLook(f, calm)) return { ...calm, before: s.before ?? s.answers }
  const open = firstOpen(f.protocol, f.items, answersOf(f, calm))
  return shown(f, { ...calm, item: Math.max(0, open) })
}

function sentence(f: Facts, s: State, to: number, extend: boolean): State {
  const at = Math.max(0, Math.min(f.sentences.length - 1, to))
  const now = f.sentences[at]
  if (!now) return s
  const free = { ...s, selection: clear(s.selection), sentence: at, nudge: '' }
  if (!extend) return { ...free, anchor: null, passage: null }
  const anchor = s.anchor ?? s.sentence
  const from = f.sentences[anchor]!
  // A passage stays within one study.
  if (from.study !== now.study) return s
  const range = { start: Math.min(from.range.start, now.range.start), end: Math.max(from.range.end, now.range.end) }
  return { ...free, anchor, passage: { study: now.study, range } }
}

/** What Q would quote now; null for nothing. */
export function selectedPassage(f: Facts, s: State): Quote | null {
  const own = f.words[s.at] ?? []
  const words = piece(s.selection, own)
  if (words) return { in: 'summary', study: -1, range: words }
  if (s.passage) return { in: 'source', ...s.passage }
  if (s.place === 'source' && f.sentences[s.sentence]) return { in: 'source', ...f.sentences[s.sentence]! }
  if (s.place === 'summary' && own[s.selection.cursor]) return { in: 'summary', study: -1, range: own[s.selection.cursor]! }
  return null
}

const same = (a: Range, b: Range) => a.start === b.start && a.end === b.end
const letGo = (s: State): State => ({ ...s, selection: clear(s.selection), passage: null, anchor: null })

function quote(f: Facts, s: State): State {
  const criterion = evidenceCriterion(f, s)
  if (isLastLook(f, s) || !criterion) return s
  const found = selectedPassage(f, s)
  if (!found) return { ...s, nudge: 'Nothing is selected. T or R first, then select what to quote.' }
  const said = saidOf(answersOf(f, s), criterion.key)
  if (said.quotes.some((q) => q.in === found.in && q.study === found.study && same(q.range, found.range))) return letGo(s)
  return letGo(put(f, s, withSaid(answersOf(f, s), criterion.key, { quotes: [...said.quotes, found] })))
}

function mark(f: Facts, s: State): State {
  const criterion = spansCriterion(f, s)
  if (isLastLook(f, s)) return s
  if (!criterion) return { ...s, nudge: 'This protocol asks for no marks. Q quotes.' }
  const found = selectedPassage(f, s)
  if (found?.in !== 'summary') return { ...s, nudge: 'Nothing is selected in the summary. T, then F and a letter; then H.' }
  const said = saidOf(answersOf(f, s), criterion.key)
  if (said.spans.some((x) => same(x.range, found.range))) return { ...letGo(s), nudge: 'These words are marked already.' }
  const { options, severities = [], reason } = criterion.scale
  const span: Span = { range: found.range, category: options.length === 1 ? options[0]!.value : '', severity: severities.length === 1 ? severities[0]!.value : '', reason: '' }
  const after = letGo(put(f, s, withSaid(answersOf(f, s), criterion.key, { value: MARKED, na: false, prefilled: false, spans: [...said.spans, span] })))
  const ask = options.length > 1 ? 'category' : severities.length > 1 ? 'severity' : reason === 'required' ? 'reason' : null
  const item = f.items.findIndex((i) => i.criteria.includes(criterion))
  if (ask) return { ...after, item, pending: { criterion: criterion.key, span: said.spans.length, ask } }
  // Marking answers its own question. Where another one is marked, that one stays.
  return f.items[s.item]!.criteria.includes(criterion) ? onward(f, after) : after
}

function setSpan(f: Facts, s: State, key: string, index: number, more: Partial<Span>): State {
  const answers = answersOf(f, s)
  const spans = saidOf(answers, key).spans.map((x, n) => (n === index ? { ...x, ...more } : x))
  return put(f, s, withSaid(answers, key, { spans }))
}

/** The options that a mark is asked to choose from. */
export function pendingOptions(f: Facts, pending: Pending): readonly Option[] {
  const scale = f.protocol.criteria.find((c) => c.key === pending.criterion)!.scale
  return pending.ask === 'category' ? scale.options : pending.ask === 'severity' ? (scale.severities ?? []) : []
}

function pendingDigit(f: Facts, s: State, n: number): State {
  const pending = s.pending!
  const option = pendingOptions(f, pending)[n - 1]
  if (!option) return s
  const { severities = [], reason } = f.protocol.criteria.find((c) => c.key === pending.criterion)!.scale
  const after = setSpan(f, s, pending.criterion, pending.span, { [pending.ask]: option.value })
  if (pending.ask === 'category' && severities.length > 1) return { ...after, pending: { ...pending, ask: 'severity' } }
  // Where marks have kinds there are usually several: the next one is selected from where the cursor is.
  return reason === 'required' ? { ...after, pending: { ...pending, ask: 'reason' } } : { ...after, pending: null }
}

function withoutSpan(f: Facts, s: State, key: string, index: number): State {
  const answers = answersOf(f, s)
  const spans = saidOf(answers, key).spans.filter((_, n) => n !== index)
  return { ...put(f, s, withSaid(answers, key, { spans, ...(spans.length ? {} : { value: null }) })), pending: null }
}

function withoutQuote(f: Facts, s: State, key: string, index: number): State {
  const answers = answersOf(f, s)
  return put(f, s, withSaid(answers, key, { quotes: saidOf(answers, key).quotes.filter((_, n) => n !== index) }))
}

/** The mark under the cursor, else the last quote of the marked criterion, else the last quote or mark of all. */
function removeHere(f: Facts, s: State): State {
  if (isLastLook(f, s)) return s
  const answers = answersOf(f, s)
  const word = s.place === 'summary' ? f.words[s.at]?.[s.selection.cursor] : undefined
  const all = columns(f, answers)
  for (const c of all) {
    const at = saidOf(answers, c.key).spans.findIndex((x) => word && overlaps(x.range, word))
    if (at >= 0) return withoutSpan(f, s, c.key, at)
  }
  const now = evidenceCriterion(f, s)
  const quoted = [...(now ? [now] : []), ...all.toReversed()].find((c) => saidOf(answers, c.key).quotes.length)
  if (quoted) return withoutQuote(f, s, quoted.key, saidOf(answers, quoted.key).quotes.length - 1)
  const spanned = all.findLast((c) => saidOf(answers, c.key).spans.length)
  return spanned ? withoutSpan(f, s, spanned.key, saidOf(answers, spanned.key).spans.length - 1) : s
}

/** Enter: names what is missing, or goes on to the next text, to the last look, and from there away. */
function next(f: Facts, s: State): State {
  if (s.pending && s.pending.ask !== 'reason') return { ...s, nudge: `Choose a ${s.pending.ask} of the mark, or Escape takes the mark back.` }
  const look = isLastLook(f, s)
  const open = look ? s.answers.findIndex((a) => !isDone(f, a)) : isDone(f, s.answers[s.at]!) ? -1 : s.at
  if (open >= 0) {
    const there = look ? show(f, s, open) : s
    const item = firstOpen(f.protocol, f.items, answersOf(f, there), look ? 0 : s.item)
    return { ...there, item, place: 'criteria', nudge: namesWhatLacks(f, answersOf(f, there), item) }
  }
  const pending: State = { ...s, pending: null }
  if (look || f.page.texts.length === 1) return { ...pending, trail: [...s.trail, step(s)], complete: true, nudge: '' }
  const waits = (n: number) => !isDone(f, s.answers[n]!)
  const later = f.page.texts.findIndex((_, n) => n > s.at && waits(n))
  const to = later >= 0 ? later : f.page.texts.findIndex((_, n) => waits(n))
  return show(f, { ...pending, trail: [...s.trail, step(s)] }, to >= 0 ? to : f.page.texts.length)
}

function namesWhatLacks(f: Facts, answers: Answers, item: number): string {
  const open = asked(f.protocol, f.items[item]!, answers).filter((c) => lacks(c, saidOf(answers, c.key)))
  const what = lacks(open[0]!, saidOf(answers, open[0]!.key))
  if (what === 'reason') return `Say why: ${open[0]!.name}. Press W.`
  if (what === 'reason of a mark') return `Say why of each mark: ${open[0]!.name}.`
  const group = f.items[item]!.group
  return `${group ? `${group.name}: ${open.map((c) => c.name).join(', ')}` : open[0]!.name} is not answered yet.`
}
