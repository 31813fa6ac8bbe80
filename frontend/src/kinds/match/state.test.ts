import { describe, expect, it } from 'vitest'
import match from './index.ts'
import { bindings } from './keys.ts'
import { PLACES, placeOf, toValue } from './state.ts'

describe('a match', () => {
  it('has a key of its own for each of four places, which settles', () => {
    expect(bindings.map((b) => b.keys)).toEqual([['1'], ['2'], ['3'], ['4']])
    expect(bindings.every((b) => b.settles)).toBe(true)
  })

  it('comes back from its value as the place that was picked', () => {
    expect(PLACES.map((p) => placeOf(toValue(p.value)))).toEqual(['1', '2', '3', '4'])
    expect(placeOf(null)).toBeNull()
    expect(match.said('most_relevant', '3')).toBe('sentence 3')
  })
})
