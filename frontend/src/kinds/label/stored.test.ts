import { expect, it } from 'vitest'
import label from './index.ts'
import currentValues from './currentValues.ts'
import type { Cluster, Proposition } from '../kind.ts'
import { foundHow } from './stored.ts'

const fragment = (start: number, end: number) => ({ start, end, quote: '' })
const cluster = { key: '1_0', unit_name: '1_0', pico: [], propositions: [{}, {}, {}] } as unknown as Cluster

it('draws cues at code points, also behind a character of two UTF-16 units', () => {
  const text = 'TGF-𝛽2 may be raised'
  const p = {
    text, polarity: { value: 'negative', origin: 'imported' }, modality: { value: 'weak', origin: 'imported' }, polarity_cue: null,
    modality_cue: { origin: 'imported', value: { text: 'may', found: 'exact', occurrences: 1, fragments: [fragment(7, 10)] } },
  } as unknown as Proposition
  const mark = currentValues.marks!(cluster, p).find((m) => m.tag === 'weak')!
  expect(mark.channel).toBe('over')
  expect(text.slice(mark.ranges[0]!.start, mark.ranges[0]!.end)).toBe('may')
})

it('says where a cue was not found, and where it could be elsewhere', () => {
  expect(foundHow({ text: 'x', found: 'absent', occurrences: 0, fragments: [] })).toContain('not found')
  expect(foundHow({ text: 'x', found: 'exact', occurrences: 3, fragments: [] })).toContain('3 occurrences')
  expect(foundHow(null)).toBe('')
})

it('makes a card of what is in force, and one without a value of half a label', () => {
  const p = {
    unit: 7, position: 2, text: 'It fell.', polarity: { value: 'negative', origin: 'imported' }, modality: { value: 'weak', origin: 'imported' },
    polarity_cue: null, modality_cue: null,
  } as unknown as Proposition
  expect(currentValues.card!(cluster, p)).toMatchObject({
    kind: 'label', unit: { id: 7, key: '1_0', unit_name: '1_0' }, role: 'input', context: { index: 3, size: 3 },
    value: { polarity: 'negative', modality: 'weak', polarity_cue: [], modality_cue: [] },
  })
  expect(currentValues.card!(cluster, { ...p, modality: null }).value).toBeNull()
})

it('reads a value with its sign, a cue in quotes, and a cue that is none only at length', () => {
  expect(label.said('polarity', 'positive')).toBe('+ positive')
  expect(label.said('modality', 'weak')).toBe('weak')
  expect(label.said('modality_cue', 'may')).toBe('“may”')
  expect(label.said('modality_cue', 'no cue')).toBe('no cue')
  expect(label.said('modality_cue', 'no cue', true)).toBe('')
})
