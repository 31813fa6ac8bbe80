/** Where things stand in plots: pure numbers in, pure numbers out. Lengths are SVG user units. */

/** The axis of agreement coefficients; what lies outside is clipped and gets an arrow. */
export const LOW = -0.2
export const HIGH = 1

export interface Whisker {
  /** Null where the value itself lies outside the axis. */
  dot: number | null
  from: number
  to: number
  clippedLow: boolean
  clippedHigh: boolean
}

/** A linear scale from values to positions. */
export function scale(from: number, to: number, start: number, end: number): (value: number) => number {
  return (value) => start + ((value - from) / (to - from)) * (end - start)
}

/** A dot and its interval on the coefficients' axis between two positions. */
export function whisker(value: number, ci: readonly number[] | null, start: number, end: number): Whisker {
  const at = scale(LOW, HIGH, start, end)
  const low = ci?.[0] ?? value
  const high = ci?.[1] ?? value
  const clip = (v: number) => Math.min(HIGH, Math.max(LOW, v))
  return {
    dot: value >= LOW && value <= HIGH ? at(value) : null,
    from: at(clip(low)),
    to: at(clip(high)),
    clippedLow: low < LOW,
    clippedHigh: high > HIGH + 1e-9,
  }
}

/** How strongly a cell is filled: the ramp has the fixed domain 0..1, whatever the data are. */
export function shade(value: number | null): number {
  return value === null ? 0 : Math.min(1, Math.max(0, value))
}

/** Cells of the lower triangle without the diagonal: row and column, row after row. */
export function lowerTriangle(n: number): [number, number][] {
  return Array.from({ length: n }, (_, row) => Array.from({ length: row }, (_, column): [number, number] => [row, column])).flat()
}

/** Each cell's share of its row; 0 throughout an empty row. */
export function rowShares(table: readonly (readonly number[])[]): number[][] {
  return table.map((row) => {
    const sum = row.reduce((a, b) => a + b, 0)
    return row.map((n) => (sum ? n / sum : 0))
  })
}

/** Round numbers from 0 up to at least `top`, at most `most` steps. */
export function ticks(top: number, most = 5): number[] {
  if (!(top > 0)) return [0, 1]
  const rough = top / most
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough - 1e-12)!
  const out: number[] = []
  for (let i = 0; i * step < top + step - 1e-9; i++) out.push(Number((i * step).toPrecision(12)))
  return out
}

/** Points of a polyline as SVG wants them, to a tenth of a unit. */
export function points(all: readonly (readonly [number, number])[]): string {
  return all.map(([x, y]) => `${Math.round(x * 10) / 10},${Math.round(y * 10) / 10}`).join(' ')
}
