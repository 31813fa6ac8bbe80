import { expect, it } from 'vitest'
import { freezes, obstacle, totalsSentence } from './plan.ts'

const totals = { units: 40, available: 2292, answers: 120, each: 40, seconds_an_answer: 37, minutes_each: 24.6 }

it('says what a plan comes to, with time only where a pace is known', () => {
  expect(totalsSentence(totals)).toBe('120 answers, 40 each, about 25 min at 37 s')
  expect(totalsSentence({ ...totals, seconds_an_answer: null, minutes_each: null })).toBe('120 answers, 40 each')
  expect(totalsSentence({ ...totals, each: 13.33 })).toContain('about 13 each')
})

it('names on the button what freezes', () => {
  expect(freezes(40, 2, 7)).toBe('Open: freezes 40 units, guideline 2, seed 7')
})

it('names the first thing that is missing', () => {
  expect(obstacle({ name: ' ', people: [], overlap: 3 }, totals)).toContain('name')
  expect(obstacle({ name: 'a', people: [], overlap: 3 }, totals)).toContain('who')
  expect(obstacle({ name: 'a', people: [1], overlap: 3 }, totals)).toBe('Each unit needs 3 people, and only one is chosen.')
  expect(obstacle({ name: 'a', people: [1, 2, 3], overlap: 3 }, { ...totals, units: 0 })).toContain('No unit')
  expect(obstacle({ name: 'a', people: [1, 2, 3], overlap: 3 }, totals)).toBe('')
})
