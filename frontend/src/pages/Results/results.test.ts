import { describe, expect, it } from 'vitest'
import type { Schemas } from '../../api/client.ts'
import { asForm, byReason, paramsOf, scoreInWords, together, toScore } from './results.ts'
import { draftOf } from '../../components/systems/versioning.ts'

const parameter = (name: string, more: Partial<Schemas['Parameter']> = {}): Schemas['Parameter'] => ({
  name, takes: 'text', label: name, default: '', help: '', choices: [], words: [], minimum: null, maximum: null, required: false, when: null, ...more,
})

it('gathers failures by what they say', () => {
  const failed = [{ error: 'No folder.', run: 1 }, { error: 'Full.', run: 2 }, { error: 'No folder.', run: 3 }]
  expect(byReason(failed, (f) => `run ${f.run}`)).toEqual([{ reason: 'No folder.', names: ['run 1', 'run 3'] }, { reason: 'Full.', names: ['run 2'] }])
})

describe('parameters of a metric', () => {
  const metric = {
    key: 'direction', name: 'Direction', description: '', figures: [],
    parameters: [
      parameter('classifier', { takes: 'choice', default: 'lexicon', choices: ['lexicon', 'model'] }),
      parameter('model', { when: { parameter: 'classifier', values: ['model'] } }),
      parameter('layers', { takes: 'integer', default: null }),
    ],
  }
  it('leave out what does not act', () => {
    const draft = draftOf(asForm(metric))
    expect(paramsOf(metric, draft)).toEqual({ classifier: 'lexicon', layers: null })
    draft.values.params = { classifier: 'model', model: '', layers: '' }
    expect(paramsOf(metric, draft)).toEqual({ classifier: 'model', model: '', layers: null })
  })
  it('make no section where there are none', () => {
    expect(asForm({ ...metric, parameters: [] }).sections).toEqual([])
  })
})

describe('a figure of one summary', () => {
  it('says when there is none', () => {
    expect([null, undefined, 0, 2, 0.12345, -0.5].map(scoreInWords)).toEqual(['–', '–', '0', '2', '0.123', '−0.500'])
  })
})

describe('tables that stand together', () => {
  const step = (sentence: string): Schemas['MissingStep'] => ({ words: '', outdated: '', sentence, command: '', page: '', runs: [], metric: '', params: {} })
  const table = (key: string, beside: string, rows: number, ...missing: string[]): Schemas['ResultTable'] => ({
    key, beside, title: key, caption: '', columns: [], rows: Array.from({ length: rows }, () => []), undefined: [], withheld: [], remarks: [], notes: [], missing: missing.map(step),
  })
  const tables = [table('a', '', 0, 'x'), table('b', '', 1), table('a-pairs', 'a', 2, 'x', 'y'), table('a-wide', 'a', 0, 'x'), table('b-pairs', 'b', 1)]
  it('are the one and those beside it, each step once', () => {
    const found = together(tables, 'a')
    expect(found.map((t) => t.key)).toEqual(['a', 'a-pairs'])
    expect(found.map((t) => t.missing.map((s) => s.sentence))).toEqual([['x'], ['y']])
  })
  it('leave what is beside another one', () => {
    expect(together(tables, 'b').map((t) => t.key)).toEqual(['b', 'b-pairs'])
  })
})

it('scores what all tables lack once, and nothing that no worker can', () => {
  const step = (metric: string, runs: number[], params = {}) => ({ metric, runs, params })
  const tables = [{ missing: [step('rouge', [1, 2]), step('', [])] }, { missing: [step('rouge', [2, 3]), step('rouge', [1], { stemmer: true })] }]
  expect(toScore(tables as unknown as Schemas['ResultTable'][])).toEqual([
    { metric: 'rouge', params: {}, runs: [1, 2, 3] },
    { metric: 'rouge', params: { stemmer: true }, runs: [1] },
  ])
})
