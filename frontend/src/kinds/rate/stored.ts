/** Convert answers to the API value and back. Offsets in the API are code points of the shown texts. */

import type { Schemas } from '../../api/client.ts'
import type { Page } from '../../rating/protocol.ts'
import { fromWire, toWire, type Range } from '../../text/offsets.ts'
import { isAnswered, isShown, saidOf, type Answers, type Said } from './answers.ts'

export type Card = Schemas['RateCard']
export type Value = Schemas['RateValue']
export type WireSaid = Schemas['Said']

const wire = (text: string, range: Range) => toWire(text, [range])[0]!
const ours = (text: string, range: { start: number; end: number }) => fromWire(text, [range])[0]!

/** The API value: each text with its asked and answered criteria. */
export function toValue(page: Page, answers: readonly Answers[]): Value {
  return {
    texts: page.texts.map((text, n) => ({
      text: text.key,
      said: page.protocol.criteria.filter((c) => isShown(page.protocol, c, answers[n] ?? {}) && isAnswered(saidOf(answers[n] ?? {}, c.key))).map((c) => {
        const { value, na, prefilled, reason, spans, quotes } = saidOf(answers[n] ?? {}, c.key)
        return {
          criterion: c.key, value: na ? '' : (value ?? '').trim(), na, prefilled, reason: reason.trim(),
          spans: spans.map((s) => ({ ...wire(text.text, s.range), category: s.category, severity: s.severity, reason: s.reason })),
          quotes: quotes.map((q) => ({
            in: q.in, study: Math.max(0, q.study), ...wire(q.in === 'summary' ? text.text : page.source.studies[q.study]!.text, q.range),
          })),
        }
      }),
    })),
  }
}

/** Answers about each text, in the order of the page. */
export function fromValue(page: Page, value: Value | null): Answers[] {
  return page.texts.map((text) => {
    const said = value?.texts.find((t) => t.text === text.key)?.said ?? []
    return Object.fromEntries(said.map((s): [string, Said] => [s.criterion, {
      value: s.na || s.value === '' ? null : s.value, na: s.na, prefilled: s.prefilled, reason: s.reason,
      spans: (s.spans ?? []).map((x) => ({ range: ours(text.text, x), category: x.category, severity: x.severity, reason: x.reason })),
      quotes: (s.quotes ?? []).map((q) => ({
        in: q.in, study: q.in === 'summary' ? -1 : q.study, range: ours(q.in === 'summary' ? text.text : (page.source.studies[q.study]?.text ?? ''), q),
      })),
    }]))
  })
}
