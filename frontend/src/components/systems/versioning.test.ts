import { expect, it } from 'vitest'
import { bounds, type Parameter } from './parameters.ts'
import { acting, configOf, differences, draftOf, inWords, startsOf, unplaced, type Backend } from './versioning.ts'

const parameter = (name: string, more: Partial<Parameter> = {}): Parameter => ({
  name, takes: 'integer', label: name, default: null, help: '', choices: [], words: [], minimum: null, maximum: null, required: false, when: null, ...more,
})
const backend = {
  key: 'extractive', name: 'Extractive', description: '', no_probe: '',
  sections: [
    {
      key: 'decoding',
      title: 'How it writes',
      parameters: [
        parameter('method', { takes: 'choice', default: 'lead', choices: ['lead', 'mmr'] }),
        parameter('sentences', { default: 3 }),
        parameter('balance', { takes: 'number', default: 0.5, when: { parameter: 'method', values: ['mmr'] } }),
        parameter('vectors', { takes: 'choice', default: 'lexical', choices: ['lexical', 'dense'], when: { parameter: 'method', values: ['mmr'] } }),
        parameter('encoder', { takes: 'text', default: '', when: { parameter: 'vectors', values: ['dense'] } }),
      ],
    },
  ],
} satisfies Backend

it('begins with the defaults, and what a preset sets', () => {
  const draft = draftOf(backend, { level: 'sentence', decoding: { sentences: 5 } })
  expect(draft).toEqual({ backend: 'extractive', level: 'sentence', seed: 0, values: { decoding: { method: 'lead', sentences: 5, balance: 0.5, vectors: 'lexical', encoder: '' } } })
})

it('shows, sends and compares only what acts', () => {
  const start = draftOf(backend)
  const now = draftOf(backend, { decoding: { method: 'lead', balance: 0.9, vectors: 'dense', encoder: 'x' } })
  const names = () => acting(backend.sections[0]!.parameters, now.values.decoding!).map((p) => p.name)
  expect(names()).toEqual(['method', 'sentences'])
  expect(configOf(now, backend).decoding).toEqual({ method: 'lead', sentences: 3 })
  expect(differences(start, now, backend)).toEqual([])
  now.values.decoding!.method = 'mmr'
  expect(names()).toEqual(['method', 'sentences', 'balance', 'vectors', 'encoder'])
  now.values.decoding!.vectors = 'lexical'
  expect(configOf(now, backend).decoding).toEqual({ method: 'mmr', sentences: 3, balance: 0.9, vectors: 'lexical' })
  expect(differences(start, now, backend)).toEqual([
    { label: 'method', before: 'lead', after: 'mmr' },
    { label: 'balance', before: '0.5', after: '0.9' },
  ])
})

it('sends an emptied number as not set', () => {
  const draft = draftOf(backend)
  draft.values.decoding!.sentences = ''
  expect(configOf(draft, backend).decoding).toEqual({ method: 'lead', sentences: null })
})

it('names the field of a fault where the form has no such field to say it', () => {
  const wrong = { name: 'Taken.', 'decoding.sentences': 'Too few.', 'decoding.balance': 'Too much.', 'facts': 'Other weights.' }
  expect(unplaced(wrong, backend, draftOf(backend))).toEqual(['decoding.balance: Too much.', 'facts: Other weights.'])
  expect(unplaced({ seed: 'None.' }, null, null)).toEqual(['seed: None.'])
})

it('says values and bounds in words', () => {
  expect([true, null, '', 0, 'a', '\n '].map(inWords)).toEqual(['on', 'not set', 'not set', '0', 'a', '↵␣'])
  expect(bounds({ minimum: 1, maximum: 9 })).toBe('From 1 to 9.')
  expect(bounds({ minimum: 0.5, maximum: 10000 })).toBe('From 0.5 to 10,000.')
  expect(bounds({ minimum: 0, maximum: null })).toBe('At least 0.')
  expect(bounds({ minimum: null, maximum: null })).toBe('')
})

it('offers the papers\' systems of known backends before the bare backends', () => {
  const preset = { key: 'lead-3', name: 'Lead-3', paper: 'MEDIQA-AnS', says: 'The first three.', backend: 'extractive', config: { decoding: { sentences: 3 } }, needs: [] }
  const starts = startsOf({ levels: [], backends: [backend], presets: [preset, { ...preset, key: 'x', backend: 'unknown' }] }, null)
  expect(starts.map((s) => [s.key, s.group, s.title])).toEqual([
    ['preset-lead-3', 'MEDIQA-AnS', 'Lead-3'],
    ['backend-extractive', 'From scratch', 'Extractive'],
  ])
  expect(draftOf(backend, starts[0]!.config).values.decoding!.sentences).toBe(3)
})
