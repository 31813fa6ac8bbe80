/** Select passages, quote them as evidence, mark them as errors, and remove them. Pure functions. */

import type { Option } from '../../rating/protocol.ts'
import type { Range } from '../../text/offsets.ts'
import { overlaps } from '../../text/segments.ts'
import { clear, drag, emptySelection, piece } from '../../text/selection.ts'
import { words } from '../../text/words.ts'
import { MARKED, saidOf, type Quote, type Span } from './answers.ts'
import { answersOf, columns, evidenceCriterion, isLastLook, withAnswers, spansCriterion, withSaid, type Facts, type Pending, type State } from './focusTarget.ts'
import { onward } from './navigation.ts'

export function sentence(f: Facts, s: State, to: number, extend: boolean): State {
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

/** The passage that Q would quote, or null. */
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
const clearPassage = (s: State): State => ({ ...s, selection: clear(s.selection), passage: null, anchor: null })

export function quote(f: Facts, s: State): State {
  const criterion = evidenceCriterion(f, s)
  if (isLastLook(f, s) || !criterion) return s
  const found = selectedPassage(f, s)
  if (!found) return { ...s, nudge: 'No selection. Press T or R, then select words to quote.' }
  const said = saidOf(answersOf(f, s), criterion.key)
  if (said.quotes.some((q) => q.in === found.in && q.study === found.study && same(q.range, found.range))) return clearPassage(s)
  return clearPassage(withAnswers(f, s, withSaid(answersOf(f, s), criterion.key, { quotes: [...said.quotes, found] })))
}

export function mark(f: Facts, s: State): State {
  const criterion = spansCriterion(f, s)
  if (isLastLook(f, s)) return s
  if (!criterion) return { ...s, nudge: 'This protocol has no marks. Q quotes.' }
  const found = selectedPassage(f, s)
  if (found?.in !== 'summary') return { ...s, nudge: 'No selection in the summary. Press T, then F and a letter, then H.' }
  const said = saidOf(answersOf(f, s), criterion.key)
  if (said.spans.some((x) => same(x.range, found.range))) return { ...clearPassage(s), nudge: 'These words are marked already.' }
  const { options, severities = [], reason } = criterion.scale
  const span: Span = { range: found.range, category: options.length === 1 ? options[0]!.value : '', severity: severities.length === 1 ? severities[0]!.value : '', reason: '' }
  const after = clearPassage(withAnswers(f, s, withSaid(answersOf(f, s), criterion.key, { value: MARKED, na: false, prefilled: false, spans: [...said.spans, span] })))
  const ask = options.length > 1 ? 'category' : severities.length > 1 ? 'severity' : reason === 'required' ? 'reason' : null
  const item = f.items.findIndex((i) => i.criteria.includes(criterion))
  if (ask) return { ...after, item, pending: { criterion: criterion.key, span: said.spans.length, ask } }
  // A mark answers its own question only; move on only from that question.
  return f.items[s.item]!.criteria.includes(criterion) ? onward(f, after) : after
}

function setSpan(f: Facts, s: State, key: string, index: number, more: Partial<Span>): State {
  const answers = answersOf(f, s)
  const spans = saidOf(answers, key).spans.map((x, n) => (n === index ? { ...x, ...more } : x))
  return withAnswers(f, s, withSaid(answers, key, { spans }))
}

/** The options for the open question about a mark. */
export function pendingOptions(f: Facts, pending: Pending): readonly Option[] {
  const scale = f.protocol.criteria.find((c) => c.key === pending.criterion)!.scale
  return pending.ask === 'category' ? scale.options : pending.ask === 'severity' ? (scale.severities ?? []) : []
}

export function pendingDigit(f: Facts, s: State, n: number): State {
  const pending = s.pending!
  const option = pendingOptions(f, pending)[n - 1]
  if (!option) return s
  const { severities = [], reason } = f.protocol.criteria.find((c) => c.key === pending.criterion)!.scale
  const after = setSpan(f, s, pending.criterion, pending.span, { [pending.ask]: option.value })
  if (pending.ask === 'category' && severities.length > 1) return { ...after, pending: { ...pending, ask: 'severity' } }
  // Stay in the text, because several marks are usual if marks have categories.
  return reason === 'required' ? { ...after, pending: { ...pending, ask: 'reason' } } : { ...after, pending: null }
}

export function withoutSpan(f: Facts, s: State, key: string, index: number): State {
  const answers = answersOf(f, s)
  const spans = saidOf(answers, key).spans.filter((_, n) => n !== index)
  return { ...withAnswers(f, s, withSaid(answers, key, { spans, ...(spans.length ? {} : { value: null }) })), pending: null }
}

export function withoutQuote(f: Facts, s: State, key: string, index: number): State {
  const answers = answersOf(f, s)
  return withAnswers(f, s, withSaid(answers, key, { quotes: saidOf(answers, key).quotes.filter((_, n) => n !== index) }))
}

/** Remove the mark under the cursor, else the last quote of the current criterion, else the last quote or mark. */
export function removeHere(f: Facts, s: State): State {
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

/** Select words of a study by mouse. */
export function passage(f: Facts, s: State, study: number, range: Range, characters: boolean): State {
  const all = words(f.page.source.studies[study]?.text ?? '')
  const one = piece(drag(emptySelection, all, range, { characters }), all)
  return one ? { ...clearPassage(s), passage: { study, range: one }, nudge: '' } : s
}

/** Cancel everything in progress: selection, letter search, and an incomplete mark. */
export function letAllGo(f: Facts, s: State): State {
  const without = s.pending ? withoutSpan(f, s, s.pending.criterion, s.pending.span) : s
  return { ...clearPassage(without), finding: null, pending: null, nudge: '' }
}

/** Store the reason of a mark, the last question about it. */
export function markReason(f: Facts, s: State, text: string): State {
  if (!s.pending) return s
  const { criterion, span } = s.pending
  return onward(f, { ...setSpan(f, s, criterion, span, { reason: text.trim() }), pending: null })
}
