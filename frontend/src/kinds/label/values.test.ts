import { expect, it } from 'vitest'
import { glyph, inWords, MODALITIES, POLARITIES } from './values.ts'

it('has the values in the order of the keys that lie side by side', () => {
  expect(POLARITIES.map((p) => [p.value, p.key])).toEqual([['positive', 'A'], ['no effect', 'S'], ['negative', 'D'], ['n/a', '']])
  expect(MODALITIES.map((m) => [m.value, m.key])).toEqual([['strong', '1'], ['moderate', '2'], ['weak', '3'], ['no evidence', '4']])
})

it('reads a label back with the words that were marked for it', () => {
  const value = { polarity: 'no effect', modality: 'weak', polarity_cue: [{ start: 0, end: 7, quote: 'Neither' }], modality_cue: [] }
  expect(inWords(value as unknown as Parameters<typeof inWords>[0])).toBe('= no effect – “Neither”, weak')
  expect([inWords(null), glyph('n/a'), glyph('')]).toEqual(['', '', ''])
})
