import { describe, expect, it } from 'vitest'
import { LISTED, PLAIN, passageOf } from './example.ts'
import { outlineOf, sourceOf, squeezed, toRanges } from './structure.ts'

const passages = [LISTED, PLAIN]

describe('the blocks of a passage', () => {
  it('are its title, paragraphs and lists', () => {
    const { units, passages: drawn } = sourceOf(passages, [0])
    const shown = drawn[0]!.groups.map((g) => [g.kind, g.blocks.map((b) => b.units.map((n) => LISTED.text.slice(units[n]!.start, units[n]!.end)).join('|'))])
    expect(shown).toEqual([
      ['title', ['Nepralin (Side effects):']],
      ['paragraph', ['Nepralin can cause:']],
      ['item', ['- Nausea', '- Fever 🤒', '- Dizziness.|It passes.']],
      ['paragraph', ['See a doctor if it does not.|Do not drive.']],
    ])
  })

  it('cover every character of the stored text but white space, in order', () => {
    const { units } = sourceOf(passages, [1, 0])
    expect(new Set(units.map((u) => u.passage))).toEqual(new Set([1, 0]))
    for (const passage of [0, 1]) {
      const own = units.filter((u) => u.passage === passage)
      const { text } = passages[passage]!
      expect(own.map((u) => text.slice(u.start, u.end)).join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''))
    }
  })
})

it('converts offsets of code points, also after letters outside the basic plane', () => {
  expect(toRanges('a😀b😀c', [{ start: 0, end: 2 }, { start: 2, end: 3 }, { start: 4, end: 5 }])).toEqual([{ start: 0, end: 3 }, { start: 3, end: 4 }, { start: 6, end: 7 }])
  expect(squeezed('  a \n b  ')).toBe('a b')
})

describe('the outline', () => {
  it('lists titles, introductions of lists, questions and run-in headings', () => {
    const source = sourceOf(passages, [0, 1])
    expect(outlineOf(passages, source).map((h) => [h.text, h.unit, h.end])).toEqual([
      ['Nepralin (Side effects)', 0, 1], ['Nepralin can cause', 1, 8], ['What is nepralin?', 8, 10], ['Overdose', 10, 13],
    ])
  })

  it('lists every 20th sentence where there are no headings', () => {
    const long = passageOf(1, Array.from({ length: 65 }, (_, n) => `Sentence number ${n} of a long passage without headings. `))
    expect(outlineOf([long], sourceOf([long], [0])).map((h) => h.unit)).toEqual([0, 20, 40, 60])
  })
})
