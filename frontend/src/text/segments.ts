import type { Range } from './offsets.ts'

/**
 * How a span is drawn on a text: the CSS class of its marks. Every editor and page uses these names.
 *
 * - fill, over, under, under2: values, as a fill, a line above, and lines below in two lanes
 * - suggested: a suggestion, not yet a value
 * - selected, kept: the selection, and earlier parts of it
 * - quote, span, hint: a quoted passage, a marked error, and words shared by two texts
 * - hit, current hit: matches of a search
 */
export type Channel = 'fill' | 'over' | 'under' | 'under2' | 'suggested' | 'selected' | 'kept' | 'quote' | 'span' | 'hint' | 'hit' | 'current hit'

/** A span drawn on a text: its channel, its ranges, and a tag printed above its start. */
export interface Mark {
  readonly channel: Channel
  readonly ranges: readonly Range[]
  readonly tag?: string
}

/** A piece of text without a boundary inside, with the channels that cover it. */
export interface Segment extends Range {
  readonly channels: readonly Channel[]
  readonly tag: string
}

/** A word of a text by its index, or the text between two words (-1). */
export interface Token extends Range {
  readonly word: number
}

/** Words and the text between them, in order; joined they give the text. */
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
 * Split [start, end) at every boundary of every mark. The pieces joined are exactly the text, so that the page
 * shows the stored text whatever marks it has.
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
    return { start: from, end: to, channels: [...new Set(over.map((m) => m.channel))], tag: tags.join(' ') }
  })
}

/**
 * One mark per range. A tag that would overlap its right neighbour takes over the neighbour's tag: "weak" above
 * a two-letter cue and the "O" of the next word become one tag "weak O". Widths are counted in letters of the text,
 * a letter of a tag as `room` letters.
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

/** Spans in two lanes: a span that overlaps an earlier one, also of its own type, is in the second lane. */
export function inLanes<T extends { ranges: readonly Range[] }>(spans: readonly T[]): (T & { lane: 1 | 2 })[] {
  let end = 0
  const sorted = [...spans].sort((a, b) => a.ranges[0]!.start - b.ranges[0]!.start || b.ranges[0]!.end - a.ranges[0]!.end)
  return sorted.map((s) => {
    const lane = s.ranges[0]!.start < end ? 2 : 1
    if (lane === 1) end = Math.max(...s.ranges.map((r) => r.end))
    return { ...s, lane }
  })
}

/** Spans as lines under a text, with their tags. */
export function underlined(spans: readonly { ranges: readonly Range[]; tag: string }[]): Mark[] {
  return inLanes(spans).map((s) => ({ channel: s.lane === 2 ? 'under2' : 'under', ranges: s.ranges, tag: s.tag }))
}

export function overlaps(a: Range, b: Range): boolean {
  return a.start < b.end && b.start < a.end
}

/** Sort ranges and merge those that touch or overlap. */
export function joinRanges(ranges: readonly Range[]): Range[] {
  const out: Range[] = []
  for (const r of [...ranges].sort((a, b) => a.start - b.start || a.end - b.end)) {
    const last = out.at(-1)
    if (last && r.start <= last.end) out[out.length - 1] = { start: last.start, end: Math.max(last.end, r.end) }
    else out.push({ start: r.start, end: r.end })
  }
  return out
}
