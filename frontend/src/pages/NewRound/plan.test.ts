import { expect, it } from 'vitest'
import { freezes, obstacle, paceInWords, peopleInWords, studyTotals, totalsSentence, unitsInWords } from './plan.ts'
import type { Parameter } from '../../components/systems/parameters.ts'
import { narrowed, Planning } from './planning.svelte.ts'

const totals = { units: 40, available: 2292, strata: [], answers: 120, each: 40, seconds_an_answer: 37, answers_timed: 500, minutes_each: 24.6, items: 0, items_each: 0, fewer: [] }

it('says what a plan comes to, and what the time rests on', () => {
  expect(totalsSentence(totals)).toBe('120 answers, 40 each, about 25 min')
  expect(totalsSentence({ ...totals, each: 13.33 })).toContain('about 13 each')
  expect(paceInWords(totals)).toBe('37 s, median of 500 answers')
  expect(paceInWords({ ...totals, seconds_an_answer: 20, answers_timed: 0 })).toBe('20 s, assumed')
})

it('says beside the button what is then fixed', () => {
  expect(freezes(2, 7)).toBe('Opening fixes units, people per unit, guideline 2 and seed 7.')
  expect(freezes(2, 7, true)).toBe('Opening fixes the selection of units, people per unit, guideline 2 and seed 7.')
})

it('says how many people each unit is asked of, and those of an overlap block', () => {
  expect(unitsInWords(totals, 3, { percent: null, people: 5 })).toBe('40 of 2,292 matching × 3 people')
  expect(unitsInWords(totals, 1, { percent: 20, people: 3 })).toBe('40 of 2,292 matching × 1 person, 20% of them × 3 people')
})

it('says what units of a purpose lack where there are none', () => {
  const none = { ...totals, units: 0, available: 0 }
  const plan = { name: 'a', people: [1], overlap: 1 }
  expect(obstacle(plan, none)).toBe('No unit matches these filters.')
  expect(obstacle(plan, none, 'fully decided')).toContain('all its fields must be decided')
  expect(obstacle(plan, none, 'decided')).toContain('to correct')
})

it('names the first thing that is missing', () => {
  expect(obstacle({ name: ' ', people: [], overlap: 3 }, totals)).toContain('name')
  expect(obstacle({ name: 'a', people: [], overlap: 3 }, totals)).toContain('people')
  expect(obstacle({ name: 'a', people: [1], overlap: 3 }, totals)).toBe('Select at least 3 people, or lower “People per unit”.')
  expect(obstacle({ name: 'a', people: [1, 2, 3], overlap: 3 }, { available: 0 })).toContain('No unit')
  expect(obstacle({ name: 'a', people: [1], overlap: 1, sample: 3000 }, totals)).toBe('Only 2,292 units match.')
  expect(obstacle({ name: 'a', people: [1, 2, 3], overlap: 3 }, totals)).toBe('')
})

it('names people until they are many, and says the number of units once', () => {
  expect(peopleInWords([])).toBe('none')
  expect(peopleInWords(['Anna', 'Ben', 'Eva'])).toBe('Anna, Ben and Eva')
  expect(peopleInWords(Array.from({ length: 7 }, (_, n) => `P${n}`))).toBe('7 people')
  expect(unitsInWords({ ...totals, units: 2292 }, 1, { percent: null, people: 3 })).toBe('2,292 × 1 person')
})

it('adds up both rounds of a reliability study', () => {
  const study = studyTotals(40, 30, 3, 3, { label: 30, match: 60 })
  expect(totalsSentence(study)).toBe('210 answers, 70 each, about 50 min')
  expect(studyTotals(40, 30, 3, 0, { label: 30, match: 60 }).each).toBe(0)
  expect(obstacle({ name: 'a', people: [1], overlap: 1, sample: 40 }, { available: 0 }, 'targets')).toContain('target propositions')
})

it('plans a study with matches at its address, only for people who may', () => {
  const planned = (mayStudy: boolean) => {
    const planning = new Planning(() => null, mayStudy)
    planning.begin(new URLSearchParams('purpose=reliability'))
    return planning
  }
  const planning = planned(true)
  expect([planning.kind, planning.purpose, planning.isStudy]).toEqual(['label', 'reliability study', true])
  planning.purpose = 'gold standard'
  planning.turnToPurpose()
  expect([planning.which, planning.isStudy]).toEqual(['all', false])
  expect(planned(false).which).toBe('all')
})

it('asks only for the filters that are set and that the kind has', () => {
  const declared = ['role', 'search', 'review', 'contested', 'flagged'].map((name) => ({ name }) as Parameter)
  const set = { role: undefined, search: '  ', review: ' 12 ', contested: false, flagged: true, depth: 'of another kind' }
  expect(narrowed(set, declared)).toEqual({ review: '12', flagged: true })
})

it('begins with the task and the filters that an address asks for', () => {
  const planning = new Planning(() => null)
  planning.begin(new URLSearchParams('kind=studies&filters.included=true'))
  expect([planning.kind, planning.which]).toEqual(['studies', 'filter'])
  expect(planning.filters).toEqual({ included: true })
  expect(planning.later).toBe(false)
  planning.begin(new URLSearchParams('rolling=true&kind=studies'))
  expect(planning.later).toBe(true)
})
