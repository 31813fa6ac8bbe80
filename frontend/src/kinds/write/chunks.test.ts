import { describe, expect, it } from 'vitest'
import { chunkAt, coverage, drop, joined, move, remove, repeats, startFrom, take, unitOf, type Chunk } from './chunks.ts'
import { cursorAt, extendBlock, extendTo, nudge, wholeWords } from './cursor.ts'
import { LISTED, PLAIN, sentence } from './example.ts'
import { sourceOf } from './structure.ts'

const texts = [LISTED, PLAIN]
const source = sourceOf(texts, [0, 1])
const quotes = (chunks: readonly Chunk[]) => chunks.map((c) => texts[c.passage]!.text.slice(c.start, c.end))
const taken = (...ranges: Chunk[]) => ranges.reduce<Chunk[]>((all, range) => take(texts, all, range), [])

describe('taking', () => {
  it('extends the last chunk by the sentence after it, with what is between them', () => {
    expect(quotes(taken(sentence(0, 6), sentence(0, 7)))).toEqual(['See a doctor if it does not. Do not drive.'])
    expect(quotes(taken(sentence(0, 7), sentence(0, 6)))).toEqual(['Do not drive.', 'See a doctor if it does not.'])
    expect(quotes(taken(sentence(0, 6), sentence(1, 0)))).toHaveLength(2)
  })

  it('merges all chunks that it overlaps, at the place of the first', () => {
    const chunks = taken(sentence(0, 7), sentence(0, 2), sentence(0, 5), sentence(1, 1))
    expect(quotes(take(texts, chunks, sentence(0, 2, 6)))).toEqual(['Do not drive.', LISTED.text.slice(sentence(0, 2).start, sentence(0, 6).end), 'It is a drug.'])
  })

  it('joins exact slices of the stored text', () => {
    expect(joined(texts, taken(sentence(0, 2, 3), sentence(1, 4)), ' ... ')).toBe('- Nausea   - Fever 🤒 ... Do not drive.')
  })
})

describe('dropping, moving and removing', () => {
  it('splits a chunk around a sentence, without blanks at the edges', () => {
    expect(quotes(drop(texts, taken(sentence(0, 2, 4)), sentence(0, 3)))).toEqual(['- Nausea', '- Dizziness.'])
    expect(drop(texts, taken(sentence(0, 2)), sentence(0, 2))).toEqual([])
  })

  it('keeps the list where nothing can move', () => {
    const chunks = taken(sentence(0, 6), sentence(1, 1), sentence(0, 2))
    expect(quotes(move(chunks, 2, -2))).toEqual(['- Nausea', 'See a doctor if it does not.', 'It is a drug.'])
    expect(move(chunks, 2, 1)).toBe(chunks)
    expect(remove(chunks, 9)).toBe(chunks)
    expect(quotes(remove(chunks, 1))).toEqual(['See a doctor if it does not.', '- Nausea'])
  })

  it('starts from chunks of other steps without what overlaps', () => {
    expect(quotes(startFrom(taken(sentence(0, 2, 3)), taken(sentence(0, 3), sentence(1, 1))))).toEqual(['- Nausea   - Fever 🤒', 'It is a drug.'])
  })
})

it('says which sentences are covered, which chunk is where, and what is repeated', () => {
  const chunks = taken(sentence(1, 4), { passage: 0, start: sentence(0, 1).start, end: sentence(0, 1).start + 8 }, sentence(0, 7))
  const covered = coverage(source.units, chunks)
  expect(covered[1]).toBe('partly')
  expect(covered[7]).toBe('yes')
  expect(covered.filter((c) => c === 'no')).toHaveLength(10)
  expect(unitOf(source, chunks[0]!)).toBe(12)
  expect(chunkAt(chunks, source.units[7])).toBe(2)
  expect(chunkAt(chunks, undefined)).toBe(-1)
  expect(repeats(texts, chunks)).toEqual([-1, -1, 0])
})

describe('marking', () => {
  const marked = (c: { range: Chunk | null }) => (c.range ? quotes([c.range])[0] : null)

  it('stays within a passage', () => {
    expect(extendTo(source, cursorAt(7), 9)).toMatchObject({ at: 7, anchor: 7 })
    expect(extendTo(source, cursorAt(8), 0)).toMatchObject({ at: 8 })
    expect(marked(extendTo(source, extendTo(source, cursorAt(6), 7), 5))).toBe('It passes.   See a doctor if it does not.')
  })

  it('takes a whole list with its introduction, and then the next block', () => {
    const first = extendBlock(texts, source, cursorAt(1))
    expect(marked(first)).toBe(LISTED.text.slice(sentence(0, 1).start, sentence(0, 5).end))
    expect(marked(extendBlock(texts, source, first))).toBe(LISTED.text.slice(sentence(0, 1).start).trimEnd())
  })

  it('moves edges by words, and never to an empty range', () => {
    const all = { ...cursorAt(9), range: sentence(1, 1) }
    const shorter = nudge(texts, source, nudge(texts, source, cursorAt(9), 'end', -1), 'start', 1)
    expect(marked(shorter)).toBe('is a')
    expect(marked(nudge(texts, source, nudge(texts, source, all, 'end', 1), 'start', -1))).toBe('nepralin? It is a drug.   Overdose.')
    const one = { ...cursorAt(9), range: { passage: 1, start: sentence(1, 1).start, end: sentence(1, 1).start + 2 } }
    expect(nudge(texts, source, one, 'end', -1)).toBe(one)
  })

  it('completes words that a drag cut', () => {
    const from = PLAIN.text.indexOf('doctor')
    expect(quotes([wholeWords(PLAIN.text, { passage: 1, start: from + 2, end: from + 8 })!])).toEqual(['doctor at'])
    const blank = PLAIN.text.indexOf('   ')
    expect(wholeWords(PLAIN.text, { passage: 1, start: blank, end: blank + 3 })).toBeNull()
  })
})
