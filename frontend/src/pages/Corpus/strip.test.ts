import { expect, it } from 'vitest'
import { inWords, majority } from './strip.ts'

it('finds the value of more than half of the decided inputs', () => {
  expect(majority(['positive', 'negative', null, 'positive'])).toBe('positive')
  expect(majority(['positive', 'negative'])).toBeNull()
  expect(majority([null, null])).toBeNull()
})

it('counts the values in words, the most frequent first', () => {
  expect(inWords(['negative', 'positive', 'positive', null])).toBe('4 inputs: 2 positive, 1 negative, 1 undecided')
  expect(inWords(['n/a'])).toBe('1 input: 1 n/a')
})
