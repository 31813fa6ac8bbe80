import { describe, expect, it } from 'vitest'
import { fromWire, step, toCodePoints, toUtf16, toWire } from './offsets.ts'

const ASTRAL = 'TGF-𝛽1 and 𝛽2 were raised' // each 𝛽 is two UTF-16 units and one code point
const COMBINING = 'cafe\u0301 au lait' // e + combining acute: two code points, never merged

describe('offsets', () => {
  it('counts an astral letter as one code point', () => {
    const at = ASTRAL.indexOf('and')
    expect(at).toBe(8)
    expect(toCodePoints(ASTRAL, at)).toBe(7)
    expect(toUtf16(ASTRAL, 7)).toBe(8)
  })

  it('counts a combining mark as a code point of its own, as Python does', () => {
    expect(toCodePoints(COMBINING, COMBINING.indexOf('au'))).toBe([...'cafe\u0301 '].length)
    expect(toCodePoints(COMBINING, COMBINING.indexOf('au'))).toBe(6)
  })

  it('gives back every offset on a code point edge', () => {
    for (const text of [ASTRAL, COMBINING, '', '𝛽', 'plain']) {
      let offset = 0
      for (const [n, letter] of [...text].entries()) {
        expect(toCodePoints(text, offset)).toBe(n)
        expect(toUtf16(text, n)).toBe(offset)
        offset += letter.length
      }
      expect(toUtf16(text, 9999)).toBe(text.length)
    }
  })

  it('does not count half of a pair', () => {
    expect(toCodePoints('𝛽x', 1)).toBe(0)
  })

  it('keeps the quote of each piece and returns to the same ranges', () => {
    const start = ASTRAL.indexOf('𝛽2')
    const ranges = [{ start: 0, end: 6 }, { start, end: start + 3 }]
    const wire = toWire(ASTRAL, ranges)
    expect(wire).toEqual([
      { start: 0, end: 5, quote: 'TGF-𝛽' },
      { start: 11, end: 13, quote: '𝛽2' },
    ])
    const points = [...ASTRAL]
    for (const w of wire) expect(points.slice(w.start, w.end).join('')).toBe(w.quote)
    expect(fromWire(ASTRAL, wire)).toEqual(ranges)
  })

  it('steps over a pair whole and stops at both ends', () => {
    expect(step('a𝛽b', 1, 1)).toBe(3)
    expect(step('a𝛽b', 3, -1)).toBe(1)
    expect(step('a𝛽b', 4, 1)).toBe(4)
    expect(step('a𝛽b', 0, -1)).toBe(0)
    expect(step('𝛽', 2, -1)).toBe(0)
  })
})
