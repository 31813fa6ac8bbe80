import { expect, it } from 'vitest'
import { citing, figure, glyph, legend, majority, rows, sentence, warning, type Measure } from './report.ts'

const measure = {
  units: 40, raters: 3, ratings: 120, all_agree: { count: 34, of: 40 }, pairwise: 0.9,
  coefficients: { ac1: { value: 0.84, se: 0.04, ci: [0.75, 0.92], method: 'Gwet', bootstrap_ci: null, reviews: null }, cohen_pairs: [] },
  undefined: { fleiss: 'no variation' }, reviews: 40, cite: 'units',
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

it('shows the interval over reviews as the one to cite, and the narrower one over units beside it', () => {
  const ac1 = { ...measure.coefficients.ac1!, reviews: { se: 0.07, ci: [0.61, 0.93], undefined: null } }
  const alike = {
    ...measure, reviews: 12, cite: 'reviews', coefficients: { ...measure.coefficients, ac1 },
    reviews_method: { coefficients: 'jackknife', percent_agreement: 'a share' },
  } as Measure
  expect(rows(alike)[0]).toMatchObject({ ci: [0.61, 0.93], se: 0.07, unitsCi: [0.75, 0.92], unitsSe: 0.04, noInterval: '' })
  expect(figure(rows(alike)[0]!)).toBe('0.84 [0.61, 0.93], n = 40')
  expect(citing(alike)).toContain('40 units of 12 reviews: units of one review are alike. Cite the interval over reviews')
  expect(citing(measure)).toBe('')
})

it('says why there is no interval to cite, and does not fall back on the narrower one', () => {
  const few = { se: null, ci: null, undefined: 'fewer than three reviews: no interval' }
  const measured = { ...measure, coefficients: { ...measure.coefficients, ac1: { ...measure.coefficients.ac1!, reviews: few } } } as Measure
  expect(rows(measured)[0]).toMatchObject({ ci: null, noInterval: 'fewer than three reviews: no interval', unitsCi: [0.75, 0.92] })
})

it('says what was found in a sentence with its numbers', () => {
  expect(sentence(measure)).toBe('All agree on 34 of 40 units (85 %); any two agree on 90 % of what both rated. 120 ratings of 40 units by 3 people.')
  expect(sentence({ ...measure, ratings: 0 })).toBe('There is no answer to measure yet.')
})

it('says what there is to warn of in sentences, with the names of coefficients', () => {
  expect(warning('fewer than 30 reviews (4): read intervals with care')).toBe('Fewer than 30 reviews (4): read intervals with care.')
  expect(warning('fleiss: undefined in 3 of 1000 bootstrap replicates')).toBe("Fleiss' kappa: undefined in 3 of 1000 bootstrap replicates.")
  expect(warning('alpha_weighted: the interval has no width')).toBe("Krippendorff's alpha, weighted: the interval has no width.")
})

it('explains its glyphs, by the kind whose values they are', () => {
  const kind = { signs: { up: '+', same: '=' }, strip: { strong: '1', weak: '3' } }
  expect(legend(kind, ['up', 'same', 'n/a'])).toBe('+ up, = same')
  expect(legend(kind, ['strong', 'weak'])).toBe('1 strong, 3 weak')
  expect(glyph(kind, 'n/a')).toBe('n/a')
  expect(glyph(undefined, 'up')).toBe('up')
})

it('tells who stands apart only where more than half say the same', () => {
  const said = (...values: string[]) => majority(values.map((value) => ({ value })))
  expect(said('+', '-', '-')).toBe('-')
  expect(said('+', '-')).toBe(null)
  expect(said('+', '-', '=')).toBe(null)
})
