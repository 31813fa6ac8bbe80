/** Marks on the text and the source: quotes, error marks, selection and hints. Pure functions. */

import { shared } from '../../rating/source.ts'
import type { Mark } from '../../text/segments.ts'
import { piece } from '../../text/selection.ts'
import { saidOf } from './answers.ts'
import { answersOf, columns, isLastLook, markedCriterion, type Facts, type State } from './focusTarget.ts'

/** Quotes with the number of their chip. */
function quotes(f: Facts, s: State) {
  const answers = answersOf(f, s)
  return columns(f, answers).flatMap((c) => saidOf(answers, c.key).quotes).map((q, n) => ({ ...q, tag: String(n + 1) }))
}

export function onText(f: Facts, s: State): Mark[] {
  if (isLastLook(f, s)) return []
  const answers = answersOf(f, s)
  const now = piece(s.selection, f.words[s.at]!)
  return [
    ...(now ? [{ channel: 'selected' as const, ranges: [now] }] : []),
    ...quotes(f, s).filter((q) => q.in === 'summary').map((q): Mark => ({ channel: 'quote', ranges: [q.range], tag: q.tag })),
    ...columns(f, answers).flatMap((c) => saidOf(answers, c.key).spans.map((x, n): Mark => ({ channel: 'span', ranges: [x.range], tag: `H${n + 1}` }))),
  ]
}

/** Marks on each study. Hints are hidden while error marks are asked for, because they would bias the search. */
export function onSource(f: Facts, s: State): Mark[][] {
  const look = isLastLook(f, s)
  const text = f.page.texts[s.at]?.text
  const hints = f.protocol.hints && text !== undefined && markedCriterion(f, s)?.scale.type !== 'spans'
  const quoted = look ? [] : quotes(f, s)
  return f.page.source.studies.map((study, n) => [
    ...(hints ? [{ channel: 'hint' as const, ranges: shared(study.text, text) }] : []),
    ...(s.passage?.study === n ? [{ channel: 'selected' as const, ranges: [s.passage.range] }] : []),
    ...quoted.filter((q) => q.in === 'source' && q.study === n).map((q): Mark => ({ channel: 'quote', ranges: [q.range], tag: q.tag })),
  ])
}
