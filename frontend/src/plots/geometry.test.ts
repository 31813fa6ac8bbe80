import { expect, it } from 'vitest'
import { axis, axisStart, domainOf, fit, points, rowShares, scale, shade, textWidth, ticks, whisker, wrapped } from './geometry.ts'

const AGREEMENT = [-0.2, 1] as const
const at = scale(AGREEMENT, 0, 120)

it('maps values to positions', () => {
  expect(at(-0.2)).toBeCloseTo(0)
  expect(at(0)).toBeCloseTo(20)
  expect(at(1)).toBeCloseTo(120)
})

it('draws a whisker inside the axis as it is', () => {
  const w = whisker(0.84, [0.75, 0.92], AGREEMENT, at)
  expect(w.dot).toBeCloseTo(104)
  expect(w.from).toBeCloseTo(95)
  expect(w.to).toBeCloseTo(112)
  expect(w.clippedLow || w.clippedHigh).toBe(false)
})

it('clips a whisker that leaves the axis and says on which side', () => {
  const w = whisker(0.1, [-0.6, 0.8], AGREEMENT, at)
  expect(w.from).toBe(0)
  expect(w.clippedLow).toBe(true)
  expect(w.clippedHigh).toBe(false)
  expect(whisker(0.99, [0.9, 1.04], AGREEMENT, at).clippedHigh).toBe(true)
  expect(whisker(1, [1, 1], AGREEMENT, at).clippedHigh).toBe(false)
})

it('has no dot where the value itself is off the axis, and no whisker without an interval', () => {
  expect(whisker(-0.5, null, AGREEMENT, at).dot).toBeNull()
  const w = whisker(0.5, null, AGREEMENT, at)
  expect(w.from).toBe(w.to)
})

it('shades on a fixed domain', () => {
  expect([-0.3, 0.4, 1.2, null].map(shade)).toEqual([0, 0.4, 1, 0])
})

it('gives shares of rows, and nothing for an empty row', () => {
  expect(rowShares([[3, 1], [0, 0]])).toEqual([[0.75, 0.25], [0, 0]])
})

it('begins an axis where the scale does, not at 0', () => {
  expect(domainOf([3.1, 4.2], [1, 5])).toEqual([1, 5])
  const [low, high] = domainOf([20, 28])
  expect(low).toBeGreaterThan(15)
  expect(high).toBeGreaterThan(28)
  expect(domainOf([])).toEqual([0, 1])
})

it('puts ticks at round numbers within the domain', () => {
  expect(ticks([1, 5])).toEqual([1, 2, 3, 4, 5])
  expect(ticks([-0.42, 0.58])).toEqual([-0.4, -0.2, 0, 0.2, 0.4])
  expect(ticks([0, 1280], 4)).toEqual([0, 500, 1000])
  expect(ticks([3, 3])).toEqual([3])
})

it('writes ticks with as many decimals as the finest of them', () => {
  expect(axis(AGREEMENT, 0, 300).ticks.map((t) => t.text)).toEqual(['−0.2', '0.0', '0.2', '0.4', '0.6', '0.8', '1.0'])
  expect(axis([0, 30], 0, 60).ticks.map((t) => [t.at, t.text])).toEqual([[0, '0'], [40, '20']])
})

it('fits texts into a width', () => {
  expect(fit('Random sentences', 65)).toBe('Random…')
  expect(fit('Lead', 60)).toBe('Lead')
  const lines = wrapped('Superseded by a later version: 1', 100)
  expect(lines.join(' ')).toBe('Superseded by a later version: 1')
  expect(lines.every((line) => textWidth(line) <= 100)).toBe(true)
  expect(wrapped('Unbreakable-beyond-measure', 20)).toEqual(['Unbreakable-beyond-measure'])
})

it('writes polylines', () => {
  expect(points([[0, 1.26], [10, 2]])).toBe('0,1.3 10,2')
})

it('starts an axis at 0, or below the least value', () => {
  expect(axisStart([0.2, 0.9])).toBe(0)
  expect(axisStart([])).toBe(0)
  expect(axisStart([0.5, -0.13])).toBe(-0.2)
  expect(axisStart([-0.4, 0.1])).toBe(-0.4)
  expect(axisStart([-3])).toBe(-1)
})
