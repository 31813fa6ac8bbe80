import { expect, it } from 'vitest'
import { clusterOf, foundHow, marksOf, raised, worded } from './corpus.ts'

const fragment = (start: number, end: number) => ({ start, end, quote: '' })

it('puts a glyph before a polarity and leaves a modality alone', () => {
  expect(worded('positive')).toBe('+ positive')
  expect(worded('weak')).toBe('weak')
})

it('says all that was raised with an answer', () => {
  expect(raised({ flag: true, outcome: 'answered', reason: '', comment: 'Which arm?' })).toBe('flagged, commented')
  expect(raised({ flag: false, outcome: 'skipped', reason: 'The text is unclear', comment: '' })).toBe('skipped: The text is unclear')
})

it('draws cues at code points, also behind a character of two UTF-16 units', () => {
  const text = 'TGF-𝛽2 may be raised'
  const marks = marksOf(
    {
      text, role: 'input',
      polarity: { value: 'negative', origin: 'imported' }, modality: { value: 'weak', origin: 'imported' },
      polarity_cue: null,
      modality_cue: { origin: 'imported', value: { text: 'may', found: 'exact', occurrences: 1, fragments: [fragment(7, 10)] } },
    },
    [],
  )
  const range = marks.find((m) => m.channel === 'modality')!.ranges[0]!
  expect(text.slice(range.start, range.end)).toBe('may')
})

it('draws the slots on the target only, overlapping ones in the second lane', () => {
  const pico = [
    { slot: 'i' as const, form: 'explicit' as const, text: 'drug A', fragments: [fragment(0, 6)] },
    { slot: 'o' as const, form: 'explicit' as const, text: 'A on pain', fragments: [fragment(5, 14)] },
  ]
  const p = { text: 'drug A on pain helps', polarity: null, polarity_cue: null, modality: null, modality_cue: null }
  expect(marksOf({ ...p, role: 'target' }, pico).filter((m) => m.channel.startsWith('pico')).map((m) => m.channel)).toEqual(['pico', 'pico2'])
  expect(marksOf({ ...p, role: 'input' }, pico).some((m) => m.channel.startsWith('pico'))).toBe(false)
})

it('says where a cue was not found, and where it could be elsewhere', () => {
  expect(foundHow({ text: 'x', found: 'absent', occurrences: 0, fragments: [] })).toContain('not found')
  expect(foundHow({ text: 'x', found: 'exact', occurrences: 3, fragments: [] })).toContain('3 times')
  expect(foundHow(null)).toBe('')
})

it('knows the cluster of a unit by its key', () => {
  expect(clusterOf('18462575_0/4')).toBe('18462575_0')
  expect(clusterOf('18462575_0')).toBe('18462575_0')
})
