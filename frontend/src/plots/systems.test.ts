import { expect, it } from 'vitest'
import { APART, labelled, mark } from './systems.ts'
import { textWidth } from './geometry.ts'

it('tells as many systems apart as it says', () => {
  const found = new Set(Array.from({ length: APART }, (_, i) => JSON.stringify(mark(i, 0, 0))))
  expect(found.size).toBe(APART)
})

it('writes no name over another point where there is room', () => {
  const named = [{ x: 100, y: 100, name: 'One' }, { x: 108, y: 92, name: 'Two' }, { x: 112, y: 104, name: 'Three' }]
  const found = labelled(named, { x: 0, y: 0, w: 300, h: 200 })
  const boxes = found.map((p, i) => ({ x: p.x, y: p.y - 11, w: textWidth(named[i]!.name), h: 13 }))
  for (const [i, box] of boxes.entries())
    for (const [j, other] of [...boxes, ...named.map((p) => ({ x: p.x - 8, y: p.y - 8, w: 16, h: 16 }))].entries())
      if (i !== j) expect(box.x < other.x + other.w && other.x < box.x + box.w && box.y < other.y + other.h && other.y < box.y + box.h).toBe(false)
})
