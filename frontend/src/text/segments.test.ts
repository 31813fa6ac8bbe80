import { describe, expect, it } from 'vitest'
import { inLanes, joinRanges, segments, spacedTags, tokensOf, underlined, type Channel, type Mark } from './segments.ts'

const mark = (channel: Channel, start: number, end: number, tag?: string): Mark => ({ channel, ranges: [{ start, end }], tag })
const CHANNELS: readonly Channel[] = ['fill', 'over', 'under', 'under2', 'quote', 'hint']

describe('segments', () => {
  it('cuts at every boundary and leaves no gap', () => {
    const out = segments(0, 20, [mark('fill', 3, 10), mark('under', 7, 15), mark('over', 3, 10)])
    expect(out.map((s) => [s.start, s.end, s.channels.join('+')])).toEqual([
      [0, 3, ''],
      [3, 7, 'fill+over'],
      [7, 10, 'fill+under+over'],
      [10, 15, 'under'],
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
        return mark(CHANNELS[i]!, Math.min(a, b), Math.max(a, b) + 1, 'x')
      })
      const out = segments(0, text.length, spacedTags(marks))
      expect(out.map((s) => text.slice(s.start, s.end)).join('')).toBe(text)
    }
  })

  it('prints a tag once, above the start', () => {
    const out = segments(0, 10, [mark('over', 2, 8, 'weak'), mark('under', 4, 6, 'O')])
    expect(out.map((s) => s.tag)).toEqual(['', 'weak', 'O', '', ''])
  })

  it('joins the tags of marks that start together or too near to be read apart', () => {
    const near = spacedTags([mark('over', 0, 2, 'no evidence'), mark('under', 3, 9, 'O'), mark('fill', 30, 34, '+')])
    expect(near.filter((m) => m.tag).map((m) => [m.ranges[0]!.start, m.tag])).toEqual([[0, 'no evidence O'], [30, '+']])
  })

  it('draws nested spans of one type in two lanes, each over its own words', () => {
    const text = 'severe chronic back pain'
    const nested = [{ ranges: [{ start: 15, end: 24 }], tag: 'D' }, { ranges: [{ start: 0, end: 24 }], tag: 'D' }]
    expect(inLanes(nested).map((s) => [s.ranges[0]!.start, s.lane])).toEqual([[0, 1], [15, 2]])
    const out = segments(0, text.length, underlined(nested))
    expect(out.map((s) => [text.slice(s.start, s.end), s.channels.join('+'), s.tag])).toEqual([['severe chronic ', 'under', 'D'], ['back pain', 'under+under2', 'D']])
  })

  it('takes the first lane again after a crossing span', () => {
    const spans = [[0, 6], [4, 12], [8, 16]].map(([start, end]) => ({ ranges: [{ start: start!, end: end! }] }))
    expect(inLanes(spans).map((s) => s.lane)).toEqual([1, 2, 1])
  })

  it('names a channel once where spans of one channel overlap', () => {
    expect(segments(0, 9, [mark('fill', 0, 9), mark('fill', 3, 6)]).map((s) => s.channels)).toEqual([['fill'], ['fill'], ['fill']])
  })

  it('joins touching and overlapping pieces only', () => {
    expect(joinRanges([{ start: 5, end: 8 }, { start: 0, end: 2 }, { start: 7, end: 9 }, { start: 9, end: 10 }])).toEqual([
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
