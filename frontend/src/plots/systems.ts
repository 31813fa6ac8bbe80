/** How systems are told apart in plots: a colour of Okabe and Ito's and a shape each, the same on the whole page. */

/** Okabe and Ito (2008), told apart by people who see few colours; black, which a dark page lacks, is left out. */
const COLOURS = ['#0072b2', '#009e73', '#d55e00', '#e69f00', '#cc79a7', '#56b4e9', '#f0e442'] as const
type Shape = (x: number, y: number, r: number) => string
const SHAPES: readonly Shape[] = [
  (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`,
  (x, y, r) => `M${x} ${y - r * 1.15}L${x + r * 1.1} ${y + r * 0.85}H${x - r * 1.1}Z`,
  (x, y, r) => `M${x - r * 0.9} ${y - r * 0.9}h${r * 1.8}v${r * 1.8}h${-r * 1.8}Z`,
  (x, y, r) => `M${x} ${y + r * 1.15}L${x + r * 1.1} ${y - r * 0.85}H${x - r * 1.1}Z`,
  (x, y, r) => `M${x} ${y - r * 1.25}L${x + r * 1.25} ${y}L${x} ${y + r * 1.25}L${x - r * 1.25} ${y}Z`,
  (x, y, r) => `M${x - r * 0.4} ${y - r * 1.1}h${r * 0.8}v${r * 0.7}h${r * 0.7}v${r * 0.8}h${-r * 0.7}v${r * 0.7}h${-r * 0.8}v${-r * 0.7}h${-r * 0.7}v${-r * 0.8}h${r * 0.7}Z`,
  (x, y, r) => `M${x - r * 1.2} ${y}L${x - r * 0.6} ${y - r}H${x + r * 0.6}L${x + r * 1.2} ${y}L${x + r * 0.6} ${y + r}H${x - r * 0.6}Z`,
  (x, y, r) => `M${x - r} ${y - r}L${x + r} ${y + r}H${x - r}L${x + r} ${y - r}Z`,
]
/** So many systems differ in both shape and colour, no two of them alike: 7 and 8 have no common divisor. */
export const APART = COLOURS.length * SHAPES.length

/** The mark of the system at a place of the round's list. */
export function mark(place: number, x: number, y: number, r = 6): { d: string; fill: string } {
  return { d: SHAPES[place % SHAPES.length]!(x, y, r), fill: COLOURS[place % COLOURS.length]! }
}

/** An axis that holds all values, and the whole of a scale that has ends; begins where its numbers do, not at 0. */
export function axisOf(values: readonly number[], bounds: readonly number[] | null): [number, number] {
  if (bounds && bounds.length === 2) return [bounds[0]!, bounds[1]!]
  if (!values.length) return [0, 1]
  const low = Math.min(...values)
  const high = Math.max(...values)
  const room = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1
  return [low - room, high + room]
}

/** Round numbers within an axis, at most `most`. */
export function marksWithin([low, high]: readonly [number, number], most = 5): number[] {
  const rough = (high - low) / most
  if (!(rough > 0)) return [low]
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough - 1e-12)!
  const found: number[] = []
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) found.push(Number((k * step).toPrecision(12)))
  return found
}

interface Box { x: number; y: number; w: number; h: number }
const meet = (a: Box, b: Box) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h

/** Where names stand beside their points, so that none covers another point or name where that can be had. */
export function labelled(named: readonly { x: number; y: number; name: string }[], frame: Box): { x: number; y: number }[] {
  const taken: Box[] = named.map((p) => ({ x: p.x - 8, y: p.y - 8, w: 16, h: 16 }))
  return named.map((p) => {
    const w = p.name.length * 6.6
    const places = [[11, -9], [11, 17], [-11 - w, -9], [-11 - w, 17], [-w / 2, -16], [-w / 2, 25], [14, -24], [14, 32]] as const
    const inside = (b: Box) => b.x >= frame.x && b.x + b.w <= frame.x + frame.w && b.y >= frame.y && b.y + b.h <= frame.y + frame.h
    const boxes = places.map(([dx, dy]) => ({ x: p.x + dx, y: p.y + dy - 11, w, h: 13 }))
    const found = boxes.find((b) => inside(b) && !taken.some((t) => meet(b, t))) ?? boxes.find(inside) ?? boxes[0]!
    taken.push(found)
    return { x: found.x, y: found.y + 11 }
  })
}
