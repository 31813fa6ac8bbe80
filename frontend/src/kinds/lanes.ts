/** Where spans are drawn: each element has a fixed lane under the line, and spans of one element that overlap share it. */

import type { Range } from '../text/offsets.ts'
import type { SelectAction } from './selecting.ts'

/** Elements in the order of their lanes. */
export const LANES = ['p', 'i', 'o'] as const
export type Element = (typeof LANES)[number]
export type Edge = 'end' | 'start' | 'both'

export interface Facts {
  readonly text: string
  /** Runs without white space: all spans of MS^2 begin and end at one. */
  readonly words: readonly Range[]
}

/** A span. `origin`: marked or decided by a person, or a model's and what became of it. */
export interface Span extends Range {
  readonly id: number
  readonly element: Element
  readonly origin: 'own' | 'suggested' | 'accepted' | 'edited'
}

export type LaneAction =
  | SelectAction
  | { do: 'choose'; id: number }
  /** Move an edge of the chosen span to a word. */
  | { do: 'pull'; edge: 'start' | 'end'; word: number }

export function facts(text: string): Facts {
  return { text, words: [...text.matchAll(/\S+/gu)].map((m) => ({ start: m.index, end: m.index + m[0].length })) }
}

/** Order of spans: by start, longer ones first, then by lane. */
export function before(a: Omit<Span, 'id' | 'origin'>, b: Omit<Span, 'id' | 'origin'>): number {
  return a.start - b.start || b.end - a.end || LANES.indexOf(a.element) - LANES.indexOf(b.element)
}

/** One line of a span on the screen, in pixels relative to the frame. `middle` is that of the line of text. */
export interface Line {
  middle: number
  left: number
  right: number
}

/** Place of a span in its lane: all of it, or one of its halves. */
export interface Place {
  readonly half: 'none' | 'upper' | 'lower'
}

/** Height of a lane and distance of the first one from the middle of its line, in pixels. */
const LANE = 5, HEIGHT = 4, FIRST = 11

/**
 * The half of its lane that each span takes, by id. Spans of one element that overlap take turns; a third one
 * overlaps the second in the lower half.
 */
export function placesOf(spans: readonly Span[]): Map<number, Place> {
  const places = new Map<number, Place>()
  for (const element of LANES) {
    let group: Span[] = []
    let upperEnd = 0
    for (const span of spans.filter((s) => s.element === element).sort(before)) {
      if (span.start >= Math.max(0, ...group.map((s) => s.end))) group = []
      group.push(span)
      const upper = span.start >= upperEnd || group.length === 1
      if (upper) upperEnd = span.end
      places.set(span.id, { half: upper ? 'upper' : 'lower' })
      if (group.length === 1) places.set(span.id, { half: 'none' })
      else if (group.length === 2) places.set(group[0]!.id, { half: 'upper' })
    }
  }
  return places
}

/** Top and height of a bar under its line. */
export function barOf(element: Element, place: Place, middle: number): { y: number; height: number } {
  const top = middle + FIRST + LANES.indexOf(element) * LANE
  return place.half === 'none' ? { y: top, height: HEIGHT } : { y: top + (place.half === 'lower' ? 2.25 : 0), height: 1.75 }
}

/** The boxes of a range, joined by lines of text: an inline element has a box of its own for each word. */
export function linesOf(boxes: Iterable<{ top: number; bottom: number; left: number; right: number; width: number }>, frame: { top: number; left: number }): Line[] {
  const lines: Line[] = []
  for (const box of boxes) {
    if (!box.width) continue
    const middle = (box.top + box.bottom) / 2 - frame.top
    const line = lines.find((l) => Math.abs(l.middle - middle) < 14)
    if (line) {
      line.left = Math.min(line.left, box.left - frame.left)
      line.right = Math.max(line.right, box.right - frame.left)
    } else lines.push({ middle, left: box.left - frame.left, right: box.right - frame.left })
  }
  return lines.sort((a, b) => a.middle - b.middle)
}

/** A DOM range over UTF-16 offsets of a rendered text. Reads the text nodes once. */
export class TextNodes {
  private readonly nodes: Text[] = []
  private readonly starts: number[] = []

  constructor(box: Node) {
    const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT)
    let at = 0
    for (let node = walker.nextNode() as Text | null; node; node = walker.nextNode() as Text | null) {
      this.nodes.push(node)
      this.starts.push(at)
      at += node.length
    }
  }

  boxes({ start, end }: Range): DOMRectList {
    const range = document.createRange()
    const [first, from] = this.at(start), [last, to] = this.at(end - 1)
    range.setStart(first, from)
    range.setEnd(last, to + 1)
    return range.getClientRects()
  }

  private at(offset: number): [Text, number] {
    let low = 0, high = this.nodes.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.starts[middle]! <= offset) low = middle
      else high = middle - 1
    }
    return [this.nodes[low]!, offset - this.starts[low]!]
  }
}
