/** Scales, ticks and text sizes of figures: pure functions. Lengths are SVG user units, which are pixels on the page. */

import { decimal } from '../components/format.ts'

export type Domain = readonly [number, number]

export interface Axis {
  at: (value: number) => number
  ticks: readonly { value: number; at: number; text: string }[]
}

/** A linear scale from values to positions. */
export function scale([low, high]: Domain, start: number, end: number): (value: number) => number {
  return (value) => start + ((value - low) / (high - low)) * (end - start)
}

/** The domain of an axis: the given bounds, else all values and 4% more at each end. It includes 0 only if asked to. */
export function domainOf(values: readonly number[], bounds: readonly number[] | null = null): Domain {
  if (bounds?.length === 2) return [bounds[0]!, bounds[1]!]
  if (!values.length) return [0, 1]
  const low = Math.min(...values)
  const high = Math.max(...values)
  const room = (high - low) * 0.04 || Math.abs(high) * 0.1 || 1
  return [low - room, high + room]
}

/** Round numbers within a domain, at most `most` steps. */
export function ticks([low, high]: Domain, most = 6): number[] {
  const rough = (high - low) / most
  if (!(rough > 0)) return [low]
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough - 1e-12)!
  const values: number[] = []
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) values.push(Number((k * step).toPrecision(12)))
  return values
}

/** A linear axis with round ticks that have room, and as many decimals as the finest of them. */
export function axis(domain: Domain, start: number, end: number, text?: (value: number) => string): Axis {
  const at = scale(domain, start, end)
  const values = ticks(domain, Math.min(6, Math.max(2, Math.floor(Math.abs(end - start) / 40))))
  const places = Math.max(...values.map((v) => String(v).split('.')[1]?.length ?? 0))
  return { at, ticks: values.map((value) => ({ value, at: at(value), text: text ? text(value) : decimal(value, places) })) }
}

/** Start of an axis that ends at 1: 0, or below the smallest negative value a multiple of 0.2, at least -1. */
export function axisStart(values: readonly number[]): number {
  return Math.max(-1, Math.floor(Math.min(0, ...values) * 5 + 1e-9) / 5)
}

export interface Whisker {
  /** Null if the value itself is outside the domain. */
  dot: number | null
  from: number
  to: number
  clippedLow: boolean
  clippedHigh: boolean
}

/** Positions of a value and its interval; the interval is cut at the ends of the domain. */
export function whisker(value: number, ci: readonly number[] | null, domain: Domain, at: (value: number) => number): Whisker {
  const [low, high] = [ci?.[0] ?? value, ci?.[1] ?? value]
  const inside = (v: number) => at(Math.min(domain[1], Math.max(domain[0], v)))
  const clippedHigh = high > domain[1] + 1e-9
  return { dot: value >= domain[0] && value <= domain[1] ? at(value) : null, from: inside(low), to: inside(high), clippedLow: low < domain[0], clippedHigh }
}

/** Opacity of a cell: the value, cut to 0..1; the domain does not depend on the data. */
export function shade(value: number | null): number {
  return value === null ? 0 : Math.min(1, Math.max(0, value))
}

/** Each cell's share of its row; 0 throughout an empty row. */
export function rowShares(table: readonly (readonly number[])[]): number[][] {
  return table.map((row) => {
    const sum = row.reduce((a, b) => a + b, 0)
    return row.map((n) => (sum ? n / sum : 0))
  })
}

/** Estimated width of a text: capitals are wider than other characters. */
export function textWidth(text: string, size = 13): number {
  const capitals = text.match(/\p{Lu}/gu)?.length ?? 0
  return (text.length * 0.54 + capitals * 0.14) * size
}

/** The text, shortened to fit into a width. */
export function fit(text: string, width: number, size = 13): string {
  if (textWidth(text, size) <= width) return text
  let most = text.length - 1
  while (most > 2 && textWidth(text.slice(0, most), size) + size > width) most--
  return `${text.slice(0, most).trimEnd()}…`
}

/** The text in lines that fit into a width; a single longer word gets a line of its own. */
export function wrapped(text: string, width: number, size = 13): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word
    if (lines.length && textWidth(longer, size) <= width) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}

/** Points of an SVG polyline, rounded to a tenth of a unit. */
export function points(all: readonly (readonly [number, number])[]): string {
  return all.map(([x, y]) => `${Math.round(x * 10) / 10},${Math.round(y * 10) / 10}`).join(' ')
}
