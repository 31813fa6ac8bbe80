import { expect, it } from 'vitest'
import { lowerTriangle, points, rowShares, scale, shade, ticks, whisker } from './geometry.ts'

it('maps values to positions', () => {
  const at = scale(-0.2, 1, 0, 120)
  expect(at(-0.2)).toBeCloseTo(0)
  expect(at(0)).toBeCloseTo(20)
  expect(at(1)).toBeCloseTo(120)
})

it('draws a whisker inside the axis as it is', () => {
  const w = whisker(0.84, [0.75, 0.92], 0, 120)
  expect(w.dot).toBeCloseTo(104)
  expect(w.from).toBeCloseTo(95)
  expect(w.to).toBeCloseTo(112)
  expect(w.clippedLow || w.clippedHigh).toBe(false)
})

it('clips a whisker that leaves the axis and says on which side', () => {
  const w = whisker(0.1, [-0.6, 0.8], 0, 120)
  expect(w.from).toBe(0)
  expect(w.clippedLow).toBe(true)
  expect(w.clippedHigh).toBe(false)
  expect(whisker(0.99, [0.9, 1.04], 0, 120).clippedHigh).toBe(true)
  expect(whisker(1, [1, 1], 0, 120).clippedHigh).toBe(false)
})

it('has no dot where the value itself is off the axis, and no whisker without an interval', () => {
  expect(whisker(-0.5, null, 0, 120).dot).toBeNull()
  const w = whisker(0.5, null, 0, 120)
  expect(w.from).toBe(w.to)
})

it('shades on a fixed domain', () => {
  expect(shade(-0.3)).toBe(0)
  expect(shade(0.4)).toBe(0.4)
  expect(shade(1.2)).toBe(1)
  expect(shade(null)).toBe(0)
})

it('lists the lower triangle without the diagonal', () => {
  expect(lowerTriangle(3)).toEqual([[1, 0], [2, 0], [2, 1]])
  expect(lowerTriangle(1)).toEqual([])
})

it('gives shares of rows, and nothing for an empty row', () => {
  expect(rowShares([[3, 1], [0, 0]])).toEqual([[0.75, 0.25], [0, 0]])
})

it('puts ticks at round numbers that cover the top', () => {
  expect(ticks(0.31)).toEqual([0, 0.1, 0.2, 0.3, 0.4])
  expect(ticks(1280, 4)).toEqual([0, 500, 1000, 1500])
  expect(ticks(0)).toEqual([0, 1])
})

it('writes polylines', () => {
  expect(points([[0, 1.26], [10, 2]])).toBe('0,1.3 10,2')
})
