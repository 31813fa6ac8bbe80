/** Colour (Okabe and Ito) and shape of each system in plots, the same on the whole page. */

import { textWidth } from './geometry.ts'

/** Okabe and Ito (2008), safe for colour-blind readers; without black, which a dark page hides. */
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
/** Number of distinct marks: 7 colours and 8 shapes have no common divisor. */
export const APART = COLOURS.length * SHAPES.length

/** Most systems that have marks of their own. Among more, shapes are hard to tell apart, so that all have one neutral dot. */
export const SINGLE_MARK = 6

/** The number of the mark of a system, or undefined for the neutral dot. */
export function markNumber(place: number, systems: number): number | undefined {
  return systems > SINGLE_MARK ? undefined : place
}

/** The mark of the system with this index in the round's list. */
export function mark(place: number, x: number, y: number, r = 6): { d: string; fill: string } {
  return { d: SHAPES[place % SHAPES.length]!(x, y, r), fill: COLOURS[place % COLOURS.length]! }
}

interface Box { x: number; y: number; w: number; h: number }
const meet = (a: Box, b: Box) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h

/** Positions of names beside their points, avoiding overlaps if possible. */
export function labelled(named: readonly { x: number; y: number; name: string }[], frame: Box): { x: number; y: number }[] {
  const occupied: Box[] = named.map((p) => ({ x: p.x - 8, y: p.y - 8, w: 16, h: 16 }))
  return named.map((p) => {
    const w = textWidth(p.name)
    const places = [[11, -9], [11, 17], [-11 - w, -9], [-11 - w, 17], [-w / 2, -16], [-w / 2, 25], [14, -24], [14, 32]] as const
    const inside = (b: Box) => b.x >= frame.x && b.x + b.w <= frame.x + frame.w && b.y >= frame.y && b.y + b.h <= frame.y + frame.h
    const boxes = places.map(([dx, dy]) => ({ x: p.x + dx, y: p.y + dy - 11, w, h: 13 }))
    const free = boxes.find((b) => inside(b) && !occupied.some((t) => meet(b, t))) ?? boxes.find(inside) ?? boxes[0]!
    occupied.push(free)
    return { x: free.x, y: free.y + 11 }
  })
}
