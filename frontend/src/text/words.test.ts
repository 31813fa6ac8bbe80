import { describe, expect, it } from 'vitest'
import { initial, plain, wordAt, words } from './words.ts'

const cut = (text: string) => words(text).map((w) => text.slice(w.start, w.end))

describe('words', () => {
  it('trims punctuation around words and keeps what belongs to them', () => {
    expect(cut('peeling (p < 0.05), rs4236601[A] and “Icare® PRO”.')).toEqual(
      ['peeling', 'p', '<', '0.05', 'rs4236601[A]', 'and', 'Icare®', 'PRO'])
    expect(cut('(odds ratios [ORs], 1.2) vs. f(x)')).toEqual(['odds', 'ratios', 'ORs', '1.2', 'vs', 'f(x)'])
  })

  it('keeps hyphens and apostrophes inside words', () => {
    expect(cut("Bevacizumab's high-sensitivity CRP")).toEqual(["Bevacizumab's", 'high-sensitivity', 'CRP'])
  })

  it('finds no words in punctuation alone or in nothing', () => {
    expect(cut('... ,')).toEqual([])
    expect(cut('')).toEqual([])
  })

  it('keeps astral letters whole', () => {
    expect(cut('TGF-𝛽, 𝛽2')).toEqual(['TGF-𝛽', '𝛽2'])
  })

  it('gives the word at or after an offset', () => {
    const all = words('no (clear) effect')
    expect(wordAt(all, 0)).toBe(0)
    expect(wordAt(all, 2)).toBe(1)
    expect(wordAt(all, 9)).toBe(2)
    expect(wordAt(all, 99)).toBe(-1)
  })

  it('compares first letters without case and accents', () => {
    expect(initial('Évidence', { start: 0, end: 8 })).toBe('e')
    expect(plain('É')).toBe(plain('e'))
    expect(initial('𝛽2', { start: 0, end: 3 })).toBe('𝛽')
  })
})
