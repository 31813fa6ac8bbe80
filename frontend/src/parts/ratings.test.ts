import { describe, expect, it } from 'vitest'
import type { Schemas } from '../api/client.ts'
import { bestOf, labelOf } from './ratings.ts'

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

describe('labelOf', () => {
  const criteria = [{ key: 'coherence', name: 'Coherence', values: [{ value: '4', label: 'Good' }] }]
  const said = (value: string, na = false) => labelOf(criteria, { rater: '', criterion: 'coherence', value, na, reason: '', marks: [] })
  it('has the value with its label', () => {
    expect(said('4')).toBe('Coherence: 4, Good')
    expect(said('', true)).toBe('Coherence: N/A')
    expect(said('9')).toBe('Coherence: 9')
  })
})
