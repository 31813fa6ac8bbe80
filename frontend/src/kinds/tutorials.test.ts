/** What is tried before the first unit of a kind: three units that can be answered as we say, and in no other way. */

import { expect, it } from 'vitest'
import { kinds } from './index.ts'
import type { Value } from './kind.ts'

const tried = kinds.filter((k) => k.tutorial)

it('is there for every kind', () => {
  expect(tried.map((k) => k.key)).toEqual(kinds.map((k) => k.key))
})

it.each(tried.map((k) => [k.key, k] as const))('of %s are three units of its own, with what we say and why', async (key, kind) => {
  const { brief, units } = (await kind.tutorial!()).default
  expect(units).toHaveLength(3)
  expect(brief.length).toBeGreaterThan(0)
  expect(new Set(units.map((u) => u.card.assignment)).size).toBe(3)
  for (const [n, unit] of units.entries()) {
    expect(unit.card.kind, 'the key that the server has').toBe(key)
    expect(unit.why).not.toBe('')
    expect(unit.same(unit.expected)).toBe(true)
    // What is right of another unit is said of its own texts, and is no answer here where the values differ.
    const other = units[(n + 1) % 3]!
    if (JSON.stringify(bare(other.expected)) !== JSON.stringify(bare(unit.expected))) expect(unit.same(moved(other.expected, n, (n + 1) % 3))).toBe(false)
  }
})

/** A value without the names of its texts. */
const bare = (value: Value) => JSON.parse(JSON.stringify(value).replaceAll(/try-\d-\d/g, 'text'))
/** What was said of one unit, as if it had been said of another. */
const moved = (value: Value, to: number, from: number): Value => JSON.parse(JSON.stringify(value).replaceAll(`try-${from + 1}-`, `try-${to + 1}-`))
