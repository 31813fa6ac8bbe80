import { describe, expect, it } from 'vitest'
import { pieces, quote, shifted, withMark, type Mark } from './marks.ts'

const text = '👁 treated with gefitinib or panitumumab.'
const at = (words: string) => ({ start: text.indexOf(words), end: text.indexOf(words) + words.length })
const [mark] = withMark([], 'source', text, at('panitumumab')) as [Mark]

describe('marks of examples', () => {
  it('are code points on the wire and give the words back', () => {
    expect(mark).toEqual({ in: 'source', start: at('panitumumab').start - 1, end: at('panitumumab').end - 1 })
    expect(quote(mark, text)).toBe('panitumumab')
    const parts = pieces(text, [mark], 'source')
    expect(parts.map((p) => p.text).join('')).toBe(text)
    expect(parts.filter((p) => p.isMarked).map((p) => p.text)).toEqual(['panitumumab'])
    expect(pieces(text, [mark], 'summary').some((p) => p.isMarked)).toBe(false)
  })
  it('become one where they touch, and never overlap', () => {
    const both = withMark([mark], 'source', text, at('gefitinib or pani'))
    expect(both.map((m) => quote(m, text))).toEqual(['gefitinib or panitumumab'])
    expect(withMark([mark], 'summary', text, at('treated')).length).toBe(2)
    expect(withMark([mark], 'source', text, { start: 3, end: 3 })).toEqual([mark])
  })
  it.each([
    ['in front', `So ${text}`, 'panitumumab'],
    ['behind', `${text} And more.`, 'panitumumab'],
    ['within', text.replace('umu', 'u-mu'), 'panitu-mumab'],
    ['taken out in front', text.replace('gefitinib or ', ''), 'panitumumab'],
    ['the end of it taken out', text.replace('umab.', ''), 'panitum'],
    ['right before it', text.replace('panit', 'very panit'), 'panitumumab'],
    ['right behind it', text.replace('mab.', 'mab, too.'), 'panitumumab'],
  ])('stay on their words when the text is changed: %s', (_, after, words) => {
    expect(shifted([mark], 'source', text, after).map((m) => quote(m, after))).toEqual([words])
  })
  it('go with their words', () => {
    expect(shifted([mark], 'source', text, text.replace('panitumumab', ''))).toEqual([])
    expect(shifted([mark], 'source', text, '')).toEqual([])
    expect(shifted([mark], 'summary', text, '')).toEqual([mark])
  })
})
