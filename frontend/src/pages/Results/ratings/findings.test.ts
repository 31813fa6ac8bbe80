import { describe, expect, it } from 'vitest'
import type { Schemas } from '../../../api/client.ts'
import { asLatex, asText } from '../../../components/finding.ts'
import { contrastOf, describedShares, describedTable, testedFinding } from './findings.ts'

type Criterion = Schemas['CriterionFigures']

/** A criterion whose systems have these values; `differ` lists the pairs that differ. */
function criterion(key: string, values: Record<string, number>, differ: string, better: 'higher' | 'lower' | '' = 'higher'): Criterion {
  const names = Object.keys(values)
  const pairs = names.flatMap((first, i) => names.slice(i + 1).map((second) => ({
    first, second, holm: 0.5, different: differ.split(' ').includes(first + second), comparison: { p: 0.5, difference: { value: values[first]! - values[second]!, ci: null, n: 9 } },
  })))
  return { criterion: key, kind: 'mean', better, systems: names.map((system) => ({ system, value: values[system]! })), pairs } as unknown as Criterion
}
const ORDER = ['A', 'B', 'C', 'D']
const VALUES = { A: 4, B: 3.9, C: 2, D: 1 }
const CLEAR = criterion('coherence', VALUES, 'AC AD BC BD')

describe('contrastOf', () => {
  it('has the best system and those that do not differ from it, against every other system', () => {
    expect(contrastOf(CLEAR, ORDER)).toEqual({ leaders: ['A', 'B'], below: ['C', 'D'], every: true })
  })
  it('names only systems that each of the group differs from', () => {
    expect(contrastOf(criterion('k', VALUES, 'AC AD BD'), ORDER)).toEqual({ leaders: ['A', 'B'], below: ['D'], every: false })
  })
  it('is null where a contrast is not significant in every pair, nothing differs, or no value is better', () => {
    expect(contrastOf(criterion('k', VALUES, 'AC AD'), ORDER)).toBe(null)
    expect(contrastOf(criterion('k', VALUES, ''), ORDER)).toBe(null)
    expect(contrastOf(criterion('k', VALUES, 'AC AD BC BD', ''), ORDER)).toBe(null)
  })
  it('leads with the lowest where lower is better', () => {
    expect(contrastOf(criterion('k', VALUES, 'AD BD CD', 'lower'), ORDER)).toEqual({ leaders: ['D'], below: ['C', 'B', 'A'], every: true })
  })
})

describe('testedFinding', () => {
  const figures = { names: { coherence: 'Coherence', relevance: 'Relevance', faults: 'Faults' } } as unknown as Schemas['RatingFigures']
  const now = { systems: ORDER, sources: 60 } as unknown as Schemas['Ratings']
  it('says the same contrast of two criteria once', () => {
    const relevance = criterion('relevance', { A: 3, B: 3.5, C: 1, D: 2 }, 'AC AD BC BD')
    const found = testedFinding(figures, now, [CLEAR, relevance, criterion('faults', VALUES, 'AD BD CD', 'lower')])!
    expect(asText(found)).toBe(
      'A and B are rated higher than every other system in coherence and relevance; D is rated lower (better) than every other system in faults. (Paired permutation tests over 60 reviews, Holm-corrected within each criterion, p < .05.)',
    )
    expect(asLatex(found)).toContain('\\textbf{A} and \\textbf{B} are rated higher')
    expect(asLatex(found)).toContain('p \\textless{} .05')
  })
  it('is null where no rule applies', () => {
    expect(testedFinding(figures, now, [criterion('coherence', VALUES, '')])).toBe(null)
  })
})

describe('descriptions', () => {
  const share = (system: string, count: number, n: number) => ({ system, count, n, value: count / n, ci: [0.22, 0.54] })
  it('leaves shares of few texts out, and says that nothing was tested', () => {
    const described = describedShares([{ name: 'all correct', better: 'higher', systems: [share('A', 11, 30), share('B', 3, 3), share('C', 2, 30)] } as unknown as Criterion & { name: string }])!
    expect(asText(described)).toBe('A has the highest share of all correct (11 of 30, 37%, 95% CI [22, 54]). (Descriptive: differences are not tested.)')
  })
  it('names the best cell of a table', () => {
    const cell = (text: string, best = false) => ({ text, best }) as Schemas['TableCell']
    const table = { columns: [{ title: 'System', numeric: false }, { title: 'ROUGE-1', numeric: true }], rows: [[cell('A'), cell('20.1 [19.0, 21.2]', true)], [cell('B'), cell('19.0')]] }
    expect(asText(describedTable(table, true)!)).toBe('A has the best ROUGE-1 (20.1 [19.0, 21.2]). (Descriptive: means of each system. Tests are under Pairwise differences.)')
    expect(describedTable({ ...table, rows: [[cell('A'), cell('1')]] }, false)).toBe(null)
  })
})
