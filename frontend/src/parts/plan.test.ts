import { expect, it } from 'vitest'
import { freezes, obstacle, paceSentence, totalsSentence } from './plan.ts'
import type { Parameter } from './parameters.ts'
import { narrowed } from './planning.svelte.ts'

const totals = { units: 40, available: 2292, strata: [], answers: 120, each: 40, seconds_an_answer: 37, answers_timed: 500, minutes_each: 24.6 }

it('says what a plan comes to, and what the time rests on', () => {
  expect(totalsSentence(totals)).toBe('120 answers, 40 each, about 25 min')
  expect(totalsSentence({ ...totals, each: 13.33 })).toContain('about 13 each')
  expect(paceSentence(totals)).toBe('At 37 s an answer, the median of 500 earlier answers.')
  expect(paceSentence({ ...totals, seconds_an_answer: 20, answers_timed: 0 })).toBe('No answers yet: 20 s an answer assumed.')
})

it('names on the button what freezes', () => {
  expect(freezes(40, 3, 2, 7)).toBe('Open: 40 units × 3, guideline 2, seed 7 cannot change afterwards')
})

it('names the first thing that is missing', () => {
  expect(obstacle({ name: ' ', people: [], overlap: 3 }, totals)).toContain('name')
  expect(obstacle({ name: 'a', people: [], overlap: 3 }, totals)).toContain('who')
  expect(obstacle({ name: 'a', people: [1], overlap: 3 }, totals)).toBe('Each unit needs 3 people, and only one is chosen.')
  expect(obstacle({ name: 'a', people: [1, 2, 3], overlap: 3 }, { ...totals, units: 0 })).toContain('No unit')
  expect(obstacle({ name: 'a', people: [1], overlap: 1, sample: 3000 }, totals)).toBe('There are only 2,292 units to sample from.')
  expect(obstacle({ name: 'a', people: [1, 2, 3], overlap: 3 }, totals)).toBe('')
})

it('asks only for the filters that are set and that the kind has', () => {
  const declared = ['role', 'search', 'review', 'contested', 'flagged'].map((name) => ({ name }) as Parameter)
  const set = { role: undefined, search: '  ', review: ' 12 ', contested: false, flagged: true, depth: 'of another kind' }
  expect(narrowed(set, declared)).toEqual({ review: '12', flagged: true })
})
