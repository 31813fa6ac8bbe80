/** Marked passages of an example, in code points; they move with the text while it is edited. */

import type { Schemas } from '../../api/client.ts'
import { fromWire, toCodePoints, type Range } from '../../text/offsets.ts'
import { segments } from '../../text/segments.ts'

export type Mark = Schemas['ProtocolMark']
export type Side = Mark['in']

/** Split a text into marked and unmarked pieces. */
export function pieces(text: string, marks: readonly Mark[], side: Side): { text: string; isMarked: boolean }[] {
  const drawn = marks.filter((m) => m.in === side).map((m) => ({ channel: 'fill' as const, ranges: fromWire(text, [m]) }))
  return segments(0, text.length, drawn).map((s) => ({ text: text.slice(s.start, s.end), isMarked: s.channels.length > 0 }))
}

/** Add a passage (in UTF-16 units), merged with the marks it touches. */
export function withMark(marks: readonly Mark[], side: Side, text: string, range: Range): Mark[] {
  const added = { in: side, start: toCodePoints(text, range.start), end: toCodePoints(text, range.end) }
  if (added.start >= added.end) return [...marks]
  const apart = marks.filter((m) => m.in !== side || m.end < added.start || m.start > added.end)
  for (const m of marks) if (!apart.includes(m)) Object.assign(added, { start: Math.min(added.start, m.start), end: Math.max(added.end, m.end) })
  return [...apart, added].sort((a, b) => a.in.localeCompare(b.in) || a.start - b.start)
}

/** Move the marks after an edit of the text, so that they stay on their words. */
export function shifted(marks: readonly Mark[], side: Side, before: string, after: string): Mark[] {
  const was = [...before], is = [...after]
  let head = 0
  while (head < was.length && head < is.length && was[head] === is[head]) head++
  let tail = 0
  while (tail < was.length - head && tail < is.length - head && was[was.length - 1 - tail] === is[is.length - 1 - tail]) tail++
  const place = (at: number, isEnd: boolean) => {
    if (at < head || (at === head && isEnd)) return at
    if (at >= was.length - tail && !(isEnd && at === was.length - tail && at < was.length - tail)) return at + is.length - was.length
    return isEnd ? head : is.length - tail
  }
  return marks
    .map((m) => (m.in === side ? { ...m, start: place(m.start, false), end: place(m.end, true) } : m))
    .filter((m) => m.start < m.end)
}

/** The marked words. */
export function quote(mark: Mark, text: string): string {
  const [range] = fromWire(text, [mark])
  return text.slice(range!.start, range!.end)
}
