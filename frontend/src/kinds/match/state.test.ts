import { describe, expect, it } from 'vitest'
import match from './index.ts'
import { bindings } from './keys.ts'
import { PLACES, placeOf, toValue, type Card } from './state.ts'
import task from './task.ts'

describe('a match', () => {
  it('has a key of its own for each of four places, which settles', () => {
    expect(bindings.map((b) => b.keys)).toEqual([['1'], ['2'], ['3'], ['4']])
    expect(bindings.every((b) => b.settles)).toBe(true)
  })

  it('comes back from its value as the place that was picked', () => {
    const card = { candidates: [3, 1, 4, 2].map((number) => ({ number, text: `Sentence ${number}.` })) }
    expect(PLACES.map((p) => toValue(card, p.value).most_relevant)).toEqual([3, 1, 4, 2])
    expect(PLACES.map((p) => placeOf(card, toValue(card, p.value)))).toEqual(['1', '2', '3', '4'])
    expect(placeOf(card, null)).toBeNull()
    expect(task.inWords({ most_relevant: 4 }, card as Card)).toBe('sentence 3')
    expect(match.said('most_relevant', '3')).toBe('candidate 3')
  })
})
