/**
 * Conversion of offsets. In the API and the database they are Unicode code points of the
 * stored text; in the browser they are UTF-16 units. Ranges are half-open.
 */

/** A half-open range of UTF-16 units, as JavaScript uses them. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** A half-open range of code points, as in the API. A separate type, so that the two are not mixed up. */
export interface WireRange {
  start: number
  end: number
}

/** Number of code points before the UTF-16 offset; an offset inside a surrogate pair does not count the pair. */
export function toCodePoints(text: string, offset: number): number {
  let points = 0
  for (let i = 0; i < offset; points++) {
    i += text.codePointAt(i)! > 0xffff ? 2 : 1
    if (i > offset) break
  }
  return points
}

/** UTF-16 offset of the code point with that number; the length of the text for anything beyond its end. */
export function toUtf16(text: string, points: number): number {
  let i = 0
  for (let n = 0; n < points && i < text.length; n++) i += text.codePointAt(i)! > 0xffff ? 2 : 1
  return i
}

export function fromWire(text: string, ranges: readonly WireRange[]): Range[] {
  return ranges.map((r) => ({ start: toUtf16(text, r.start), end: toUtf16(text, r.end) }))
}

/** Ranges with their quotes, which the server compares with the text. */
export function toWire(text: string, ranges: readonly Range[]): (WireRange & { quote: string })[] {
  return ranges.map((r) => ({
    start: toCodePoints(text, r.start),
    end: toCodePoints(text, r.end),
    quote: text.slice(r.start, r.end),
  }))
}

/** The UTF-16 offset one code point further (or back), never inside a surrogate pair and never outside the text. */
export function step(text: string, offset: number, direction: 1 | -1): number {
  if (direction === 1) return offset >= text.length ? text.length : offset + (text.codePointAt(offset)! > 0xffff ? 2 : 1)
  if (offset <= 1) return 0
  const pair = /[\uDC00-\uDFFF]/.test(text[offset - 1]!) && /[\uD800-\uDBFF]/.test(text[offset - 2]!)
  return offset - (pair ? 2 : 1)
}
