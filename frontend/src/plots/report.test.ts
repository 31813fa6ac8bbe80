import { expect, it } from 'vitest'
import { citedForm, citing, figure, forms, glyph, legend, majority, rows, sentence, warning, withheld, withheldForms, type Measure } from './report.ts'

const measure = {
  units: 40, raters: 3, ratings: 120, all_agree: { count: 34, of: 40 }, pairwise: 0.9,
  coefficients: { ac1: { value: 0.84, se: 0.04, ci_se: 0.07, ci: [0.61, 0.93], ci_reason: null, method: 'Gwet' }, cohen_pairs: [] },
  undefined: { fleiss: 'no variation' }, reviews: 40, cite: 'units',
} as unknown as Measure

it('keeps undefined coefficients, with their reason and without a number', () => {
  const found = rows(measure)
  expect(found.map((r) => r.key)).toEqual(['ac1', 'fleiss'])
  expect(found[1]).toMatchObject({ value: null, undefined: 'no variation' })
})

it('prints a coefficient with its interval and its n', () => {
  expect(figure(rows(measure)[0]!)).toBe('0.84 [0.61, 0.93], n = 40')
  expect(figure(rows(measure)[1]!)).toBe('– no variation')
})

it('says over what intervals are, and how they are computed', () => {
  const alike = { ...measure, reviews: 12, cite: 'reviews', interval_method: 'jackknife' } as Measure
  expect(rows(alike)[0]).toMatchObject({ ci: [0.61, 0.93], se: 0.07, unitsSe: 0.04, noInterval: '' })
  expect(citing(alike)).toContain('Intervals over 40 units of 12 reviews (units of one review are correlated). Method: jackknife.')
  expect(citing({ ...alike, cite: 'units' } as Measure)).toContain('Intervals over 40 units.')
})

it('says why an interval is withheld', () => {
  const why = 'no reliable interval (rare category; n = 40 reviews)'
  const ac1 = { ...measure.coefficients.ac1!, ci: null, ci_reason: why }
  const [row] = rows({ ...measure, coefficients: { ...measure.coefficients, ac1 } } as Measure)
  expect(row).toMatchObject({ ci: null, noInterval: why })
  expect(figure(row!)).toBe(`0.84 ${why}, n = 40`)
  expect(withheld([row!])).toEqual([`Gwet's AC1: ${why}.`])
})

it('says what was found in a sentence with its numbers', () => {
  expect(sentence(measure)).toBe('All raters agree on 34 of 40 units (85%); mean pairwise agreement 90%. 120 ratings of 40 units by 3 people.')
  expect(sentence({ ...measure, ratings: 0 })).toBe('No answers yet.')
})

it('says what there is to warn of in sentences, with the names of coefficients', () => {
  expect(warning('fewer than 30 reviews (4): read intervals with care')).toBe('Fewer than 30 reviews (4): read intervals with care.')
  expect(warning('fleiss: something')).toBe("Fleiss' kappa: something.")
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

it('puts the unweighted form beside the weighted one, and names the one to cite', () => {
  const pair = { raters: ['A', 'B'], units: 30, value: 0.5, se: null, ci: null, method: '', reviews: null, percent: 0.8 }
  const plain = { ...measure.coefficients, cohen_pairs: [{ ...pair, units: 40, value: 0.4 }] }
  const ordered = {
    ...measure, cite_form: 'unweighted', coefficients: { ac2: measure.coefficients.ac1, cohen_pairs: [pair] },
    unweighted: { ...measure, coefficients: plain, ratings: 123 },
  } as unknown as Measure
  const found = forms(ordered)
  expect(found.at(-1)).toMatchObject({ name: "Cohen's kappa, A and B", unweighted: { value: 0.4, n: 40 }, weighted: { value: 0.5, n: 30 } })
  expect(found[1]).toMatchObject({ name: "Gwet's AC1, AC2", unweighted: { value: 0.84 }, weighted: { value: 0.84 } })
  expect(citedForm(ordered)).toBe('Cite the unweighted form. The weighted form excludes 3 ratings outside the scale (N/A, other).')
  expect(forms(measure)).toEqual([])
})

it('says why a form has no interval', () => {
  const why = 'no reliable interval (rare category; n = 40 reviews)'
  const given = { value: 0.5, ci: [0.1, 0.9], noInterval: '', n: 40, undefined: '' }
  const none = { ...given, ci: null, noInterval: why }
  const found = [{ name: "Fleiss' kappa", unweighted: none, weighted: given }, { name: "Conger's kappa", unweighted: none, weighted: none }]
  expect(withheldForms(found)).toEqual([`Fleiss' kappa (unweighted) and Conger's kappa: ${why}.`])
})
