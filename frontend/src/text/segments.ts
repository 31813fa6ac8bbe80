import type { Range } from './offsets.ts'

/** Something drawn on a text: a channel (CSS class), where, and what to print above its start. */
export interface Mark {
  readonly channel: string
  readonly ranges: readonly Range[]
  readonly tag?: string
}

/** A stretch of text without a boundary inside, with the channels that cover it. */
export interface Segment extends Range {
  readonly channels: readonly string[]
  readonly tag: string
}

/** A word of a text, by its number, or what lies between two (-1). */
export interface Token extends Range {
  readonly word: number
}

/** Words and what lies between them, in order: together exactly the text. */
export function tokensOf(text: string, words: readonly Range[]): readonly Token[] {
  const out: Token[] = []
  let at = 0
  words.forEach((w, i) => {
    if (w.start > at) out.push({ word: -1, start: at, end: w.start })
    out.push({ word: i, start: w.start, end: w.end })
    at = w.end
  })
  if (at < text.length) out.push({ word: -1, start: at, end: text.length })
  return out
}

/**
 * Cuts [start, end) at every boundary of every mark. Touching pieces together give the text back exactly, so that what
 * is on the page equals what is stored whatever is drawn.
 */
export function segments(start: number, end: number, marks: readonly Mark[]): Segment[] {
  const cuts = new Set([start, end])
  for (const mark of marks) {
    for (const r of mark.ranges) {
      if (r.start > start && r.start < end) cuts.add(r.start)
      if (r.end > start && r.end < end) cuts.add(r.end)
    }
  }
  const edges = [...cuts].sort((a, b) => a - b)
  return edges.slice(1).map((to, i) => {
    const from = edges[i]!
    const over = marks.filter((m) => m.ranges.some((r) => r.start <= from && to <= r.end))
    const tags = over.filter((m) => m.tag && m.ranges.some((r) => r.start === from)).map((m) => m.tag)
    return { start: from, end: to, channels: over.map((m) => m.channel), tag: tags.join(' ') }
  })
}

/**
 * One mark a range, where a tag that would run into its right neighbour takes that neighbour's text over: "weak" above
 * a two-letter cue and the "O" of the next word become the one tag "weak O". Widths are counted in letters of the text,
 * a letter of a tag as `room` of them.
 */
export function spacedTags(marks: readonly Mark[], room = 0.7): Mark[] {
  const out = marks.flatMap((m) => m.ranges.map((r) => ({ channel: m.channel, ranges: [r], tag: m.tag ?? '' })))
  const tagged = out.filter((m) => m.tag).sort((a, b) => a.ranges[0]!.start - b.ranges[0]!.start)
  let open: (typeof out)[number] | undefined
  for (const mark of tagged) {
    if (open && mark.ranges[0]!.start - open.ranges[0]!.start < (open.tag.length + 1) * room) {
      open.tag += ` ${mark.tag}`
      mark.tag = ''
    } else open = mark
  }
  return out
}

export function overlaps(a: Range, b: Range): boolean {
  return a.start < b.end && b.start < a.end
}

/** Sorted, with touching and overlapping ranges joined: the pieces of one cue. */
export function joined(ranges: readonly Range[]): Range[] {
  const out: Range[] = []
  for (const r of [...ranges].sort((a, b) => a.start - b.start || a.end - b.end)) {
    const last = out.at(-1)
    if (last && r.start <= last.end) out[out.length - 1] = { start: last.start, end: Math.max(last.end, r.end) }
    else out.push({ start: r.start, end: r.end })
  }
  return out
}
