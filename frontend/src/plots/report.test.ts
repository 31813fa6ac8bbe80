import { expect, it } from 'vitest'
import { figure, legend, rows, sentence, type Measure } from './report.ts'

const measure = {
  units: 40, raters: 3, ratings: 120, all_agree: { count: 34, of: 40 }, pairwise: 0.9,
  coefficients: { ac1: { value: 0.84, se: 0.04, ci: [0.75, 0.92], method: 'Gwet', bootstrap_ci: null }, cohen_pairs: [] },
  undefined: { fleiss: 'no variation' },
} as unknown as Measure

it('keeps undefined coefficients, with their reason and without a number', () => {
  const found = rows(measure)
  expect(found.map((r) => r.key)).toEqual(['ac1', 'fleiss'])
  expect(found[1]).toMatchObject({ value: null, undefined: 'no variation' })
})

it('prints a coefficient with its interval and its n', () => {
  expect(figure(rows(measure)[0]!)).toBe('0.84 [0.75, 0.92], n = 40')
  expect(figure(rows(measure)[1]!)).toBe('– no variation')
})

it('says what was found in a sentence with its numbers', () => {
  expect(sentence(measure)).toBe('All agree on 34 of 40 units (85 %); any two agree on 90 % of what both rated. 120 ratings of 40 units by 3 people.')
  expect(sentence({ ...measure, ratings: 0 })).toBe('There is no answer to measure yet.')
})

it('explains its glyphs', () => {
  expect(legend(['positive', 'no effect'])).toBe('+ positive, = no effect')
  expect(legend(['strong', 'weak'])).toBe('1 strong, 3 weak') // the keys that give them
})
