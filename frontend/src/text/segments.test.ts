import { describe, expect, it } from 'vitest'
import { joined, segments, spacedTags, tokensOf, type Mark } from './segments.ts'

const mark = (channel: string, start: number, end: number, tag?: string): Mark => ({ channel, ranges: [{ start, end }], tag })

describe('segments', () => {
  it('cuts at every boundary and leaves no gap', () => {
    const out = segments(0, 20, [mark('polarity', 3, 10), mark('pico', 7, 15), mark('modality', 3, 10)])
    expect(out.map((s) => [s.start, s.end, s.channels.join('+')])).toEqual([
      [0, 3, ''],
      [3, 7, 'polarity+modality'],
      [7, 10, 'polarity+pico+modality'],
      [10, 15, 'pico'],
      [15, 20, ''],
    ])
  })

  it('gives the text back whatever is drawn', () => {
    const text = 'TGF-𝛽1 had no clear effect on mortality.'
    let seed = 7
    const random = (n: number) => (seed = (seed * 48271) % 2147483647) % n
    for (let run = 0; run < 200; run++) {
      const marks = Array.from({ length: random(6) }, (_, i) => {
        const a = random(text.length), b = random(text.length)
        return mark(`c${i}`, Math.min(a, b), Math.max(a, b) + 1, 'x')
      })
      const out = segments(0, text.length, spacedTags(marks))
      expect(out.map((s) => text.slice(s.start, s.end)).join('')).toBe(text)
    }
  })

  it('prints a tag once, above the start', () => {
    const out = segments(0, 10, [mark('modality', 2, 8, 'weak'), mark('pico', 4, 6, 'O')])
    expect(out.map((s) => s.tag)).toEqual(['', 'weak', 'O', '', ''])
  })

  it('joins the tags of marks that start together or too near to be read apart', () => {
    const near = spacedTags([mark('modality', 0, 2, 'no evidence'), mark('pico', 3, 9, 'O'), mark('polarity', 30, 34, '+')])
    expect(near.filter((m) => m.tag).map((m) => [m.ranges[0]!.start, m.tag])).toEqual([[0, 'no evidence O'], [30, '+']])
  })

  it('joins touching and overlapping pieces only', () => {
    expect(joined([{ start: 5, end: 8 }, { start: 0, end: 2 }, { start: 7, end: 9 }, { start: 9, end: 10 }])).toEqual([
      { start: 0, end: 2 },
      { start: 5, end: 10 },
    ])
  })
})

describe('tokensOf', () => {
  it('gives the text back exactly, whatever stands before, between and after its words', () => {
    const text = ' (no) effect.'
    const tokens = tokensOf(text, [{ start: 2, end: 4 }, { start: 6, end: 12 }])
    expect(tokens.map((t) => [t.word, text.slice(t.start, t.end)])).toEqual([[-1, ' ('], [0, 'no'], [-1, ') '], [1, 'effect'], [-1, '.']])
    expect(tokensOf('', [])).toEqual([])
  })
})
