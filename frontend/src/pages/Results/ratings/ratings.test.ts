import { describe, expect, it } from 'vitest'
import type { Schemas } from '../../../api/client.ts'
import { bestOf, labelOf, metricPrinted, pairOf, shownOf, sorted, textPoints, whyWithheld } from './ratings.ts'

const system = (name: string, value: number | null) => ({ system: name, value }) as Schemas['SystemFigure']
const criterion = (better: 'higher' | 'lower' | '', ...systems: Schemas['SystemFigure'][]) => ({ better, systems }) as Schemas['CriterionFigures']

describe('bestOf', () => {
  it('is the highest, or the lowest where lower is better', () => {
    expect(bestOf(criterion('higher', system('A', 1), system('B', 2)))).toBe('B')
    expect(bestOf(criterion('lower', system('A', 1), system('B', 2)))).toBe('A')
  })
  it('is nobody where two are even, none has a figure, or there is no direction', () => {
    expect(bestOf(criterion('higher', system('A', 2), system('B', 2)))).toBe(null)
    expect(bestOf(criterion('higher', system('A', null), system('B', null)))).toBe(null)
    expect(bestOf(criterion('', system('A', 1), system('B', 2)))).toBe(null)
  })
})

describe('sorted', () => {
  it('has the best first and what has no figure last', () => {
    const of = (better: 'higher' | 'lower') => sorted(criterion(better, system('A', 1), system('B', null), system('C', 2)), ['A', 'B', 'C']).map((s) => s.system)
    expect(of('higher')).toEqual(['C', 'A', 'B'])
    expect(of('lower')).toEqual(['A', 'C', 'B'])
  })
})

describe('shownOf', () => {
  const figures = { printed: { rouge: { headline: true }, recall: { headline: false }, other: { headline: false } } } as unknown as Schemas['RatingFigures']
  it('has the figures by which metrics are known, or every one that is there', () => {
    expect(shownOf(figures, ['recall', 'rouge'], false)).toEqual({ shown: ['rouge'], more: true })
    expect(shownOf(figures, ['recall', 'rouge'], true)).toEqual({ shown: ['rouge', 'recall'], more: true })
  })
  it('has no more where all that is there is shown', () => {
    expect(shownOf(figures, ['rouge'], false)).toEqual({ shown: ['rouge'], more: false })
  })
})

describe('pairOf', () => {
  const pair = { first: 'A', second: 'B', holm: 0.01, different: true, comparison: { p: 0.001, difference: { value: 1, ci: [0.5, 1.5], n: 9 } } }
  it('turns a pair round with its interval', () => {
    const found = { pairs: [pair] } as unknown as Schemas['CriterionFigures']
    expect(pairOf(found, 'A', 'B')).toMatchObject({ value: 1, ci: [0.5, 1.5] })
    expect(pairOf(found, 'B', 'A')).toMatchObject({ value: -1, ci: [-1.5, -0.5], different: true })
    expect(pairOf(found, 'A', 'C')).toBe(null)
  })
})

it('prints a metric in the unit of its tables', () => {
  const how = { label: 'ROUGE-1 F1', scale: 100, decimals: 1, better: 'higher', headline: true } as const
  expect(metricPrinted(how, 0.2371)).toBe('23.7')
  expect(metricPrinted(how, null)).toBe('–')
})

it('draws texts that have both', () => {
  const points = { items: 1, of: 1, system: [0, 1], criteria: { coherence: [3, null] }, metrics: { rouge: [0.1, 0.2] } }
  expect(textPoints({ points } as unknown as Schemas['Ratings'], 'coherence', 'rouge')).toEqual([{ system: 0, x: 0.1, y: 3 }])
})

describe('labelOf', () => {
  const criteria = [{ key: 'coherence', name: 'Coherence', values: [{ value: '4', label: 'Good' }] }]
  const said = (value: string, na = false) => labelOf(criteria, { rater: '', criterion: 'coherence', value, na, reason: '', marks: [] })
  it('has the value with its label', () => {
    expect(said('4')).toBe('Coherence: 4, Good')
    expect(said('', true)).toBe('Coherence: N/A')
    expect(said('9')).toBe('Coherence: 9')
  })
})

describe('whyWithheld', () => {
  it('says each reason once, with the columns that it is true of', () => {
    const withheld = (ci_reason: string) => ({ ci: null, ci_reason })
    expect(
      whyWithheld([
        { name: 'Coherence', systems: [withheld('no reliable interval (few reviews; n = 5 reviews)'), withheld('no reliable interval (few reviews; n = 5 reviews)')] },
        { name: 'Relevance', systems: [withheld('no reliable interval (few reviews; n = 5 reviews)'), { ci: [1, 2], ci_reason: '' }] },
        { name: 'Consistency', systems: [withheld('fewer than 5 raters'), null] },
      ]),
    ).toEqual(['Coherence and Relevance: no reliable interval (few reviews; n = 5 reviews).', 'Consistency: no reliable interval (fewer than 5 raters).'])
  })
})
