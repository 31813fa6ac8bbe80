import { expect, it } from 'vitest'
import { APART, axisOf, labelled, mark, marksWithin } from './systems.ts'

it('tells as many systems apart as it says', () => {
  const found = new Set(Array.from({ length: APART }, (_, i) => JSON.stringify(mark(i, 0, 0))))
  expect(found.size).toBe(APART)
})

it('begins an axis where the scale does, not at 0', () => {
  expect(axisOf([3.1, 4.2], [1, 5])).toEqual([1, 5])
  const [low, high] = axisOf([20, 28], null)
  expect(low).toBeGreaterThan(15)
  expect(high).toBeGreaterThan(28)
  expect(marksWithin([1, 5])).toEqual([1, 2, 3, 4, 5])
  expect(marksWithin([-0.42, 0.58])).toEqual([-0.4, -0.2, 0, 0.2, 0.4])
})

it('writes no name over another point where there is room', () => {
  const named = [{ x: 100, y: 100, name: 'One' }, { x: 108, y: 92, name: 'Two' }, { x: 112, y: 104, name: 'Three' }]
  const found = labelled(named, { x: 0, y: 0, w: 300, h: 200 })
  const boxes = found.map((p, i) => ({ x: p.x, y: p.y - 11, w: named[i]!.name.length * 6.6, h: 13 }))
  for (const [i, box] of boxes.entries())
    for (const [j, other] of [...boxes, ...named.map((p) => ({ x: p.x - 8, y: p.y - 8, w: 16, h: 16 }))].entries())
      if (i !== j) expect(box.x < other.x + other.w && other.x < box.x + box.w && box.y < other.y + other.h && other.y < box.y + box.h).toBe(false)
})
