import { describe, expect, it } from 'vitest'
import { cardOf, LISTED, passageOf, sentence } from './example.ts'
import { begin, countsOf, factsOf, faultOf, inWords, isCopy, nameOf, reduce, startsOf, statusOf, toDraft, toValue, writtenText, type Action, type Facts, type State } from './state.ts'
import type { Card } from './structure.ts'

const f = factsOf(cardOf())
const run = (actions: readonly Action[], facts: Facts = f, from: State = begin(facts, null)) => actions.reduce((s, a) => reduce(facts, s, a), from)
const type = (text: string, time = 0): Action => ({ do: 'type', text, time })
const take = (passage: number, first: number, last = first): Action => ({ do: 'take', range: sentence(passage, first, last) })
const next: Action = { do: 'next' }
/** All steps of the question. */
const ALL: readonly Action[] = [take(0, 2), next, type('Nausea.'), next, take(1, 1), next, type('A drug.'), next, { do: 'start from chunks' }, next, type('Both.'), next]

describe('the steps', () => {
  it('go on only from a text, and skip what is done', () => {
    expect(run([next]).refusal?.says).toBe('No chunk chosen. Choose one, or mark “Nothing relevant”.')
    const s = run([take(0, 2), next, next])
    expect(s).toMatchObject({ at: 1, refusal: { says: 'The text is empty. Write it, or mark “Nothing relevant”.', step: 1 } })
    const skipped = run([{ do: 'go', at: 2 }, take(1, 1), next, { do: 'go', at: 0 }, take(0, 2), next, type('x'), next])
    expect(skipped.at, 'passage 2 has its extractive summary').toBe(3)
  })

  it('are open, begun, done, or without anything relevant', () => {
    const s = run([take(0, 2), next, type('Nausea.'), { do: 'go', at: 2 }, { do: 'nothing' }])
    expect(f.steps.map((_, n) => statusOf(f, s, n))).toEqual(['done', 'begun', 'nothing relevant', 'nothing relevant', 'open', 'open'])
    expect(statusOf(f, run([{ do: 'go', at: 0 }, take(0, 3)], f, s), 0), 'a change opens it again').toBe('begun')
    expect(nameOf(f, 2)).toBe('Passage 2 of 2, extractive')
    expect([nameOf(f, 5), nameOf(f, 6)]).toEqual(['All passages, abstractive', 'Last look'])
  })

  it('end with a last look, which submits only what is complete', () => {
    const done = run(ALL)
    expect(done).toMatchObject({ at: 6, complete: false })
    expect(run([next], f, done).complete).toBe(true)
    const hole = run([{ do: 'go', at: 3 }, type(''), { do: 'go', at: 6 }, next], f, done)
    expect(hole).toMatchObject({ complete: false, refusal: { says: 'Not submitted: Passage 2 of 2, abstractive, is empty.', step: 3 } })
    expect(reduce(f, run([next], f, done), { do: 'undo' }).complete, 'it is being stored').toBe(true)
  })

  it('are those that the round asks', () => {
    const two = factsOf(cardOf({ asked_steps: [{ passage: '12', form: 'abstractive', limit: null }, { passage: '', form: 'extractive', limit: null }] }))
    const s = run([type('A drug.'), next, take(0, 2), next], two)
    expect(s.at).toBe(2)
    expect(toValue(two, s).steps.map((x) => [x.passage, x.form, x.text])).toEqual([['12', 'abstractive', 'A drug.'], ['', 'extractive', '- Nausea']])
  })
})

describe('one undo', () => {
  it('goes back over chunks and typing, also to other steps, and on again', () => {
    const s = run([take(0, 2), next, type('N', 0), type('Nau', 500), type('Nau x', 9000)])
    const undone = run([{ do: 'undo' }], f, s)
    expect(undone).toMatchObject({ at: 1, caret: 3 })
    expect(undone.entries[1]!.text).toBe('Nau')
    const all = run([{ do: 'undo' }, { do: 'undo' }, { do: 'undo' }], f, undone)
    expect(all.at).toBe(0)
    expect(all.entries.every((e) => !e.chunks.length && !e.text)).toBe(true)
    const again = run([{ do: 'redo' }, { do: 'redo' }, { do: 'redo' }, { do: 'redo' }], f, all)
    expect(again.entries.map((e) => [e.text, e.chunks])).toEqual(s.entries.map((e) => [e.text, e.chunks]))
    expect(run([{ do: 'undo' }, type('new', 0), { do: 'redo' }], f, s).entries[1]!.text, 'a change ends redo').toBe('new')
  })

  it('brings back both texts that "nothing relevant" removed', () => {
    const s = run([take(0, 2), next, type('Nausea.'), { do: 'nothing' }, { do: 'undo' }])
    expect([s.entries[0]!.chunks.length, s.entries[1]!.text, s.entries[0]!.nothing]).toEqual([1, 'Nausea.', false])
  })

  it('survives in the draft', () => {
    const s = run([take(0, 2), take(0, 6)])
    const kept = begin(f, JSON.parse(JSON.stringify(toDraft(s))))
    expect(kept).toEqual(s)
    expect(run([{ do: 'undo' }], f, kept).entries[0]!.chunks).toHaveLength(1)
    expect(begin(f, { entries: [], trail: [] }).entries, 'a draft of other steps').toHaveLength(6)
  })
})

describe('texts', () => {
  it('are inserted at the caret, with a blank before them', () => {
    const s = run([{ do: 'go', at: 1 }, type('One. Two.'), { do: 'insert', text: 'New.', from: 4, to: 4 }])
    expect([s.entries[1]!.text, s.caret]).toEqual(['One. New. Two.', 9])
    expect(run([{ do: 'go', at: 1 }, { do: 'insert', text: 'New.', from: Infinity, to: Infinity }]).entries[1]!.text).toBe('New.')
  })

  it('can start from one\'s own, where the round allows it', () => {
    const s = run([take(0, 2, 3), next, type('One.'), { do: 'go', at: 2 }, take(1, 1), next, type('Two.'), { do: 'go', at: 4 }, { do: 'start from chunks' }, next])
    expect(startsOf(f, s.entries, 1)).toEqual({ extractive: '- Nausea - Fever 🤒', abstractive: '' })
    expect(startsOf(f, s.entries, 5)).toEqual({ extractive: '- Nausea - Fever 🤒 It is a drug.', abstractive: 'One. Two.' })
    const never = factsOf(cardOf({ starts_from_extractive: false }))
    expect(startsOf(never, s.entries, 5)).toEqual({ extractive: '', abstractive: '' })
    expect(isCopy(f, run([type('- Nausea  - Fever 🤒')], f, { ...s, at: 1 }).entries, 1)).toBe(true)
    expect(isCopy(f, s.entries, 1)).toBe(false)
  })

  it('are counted, and a limit warns or refuses', () => {
    const s = run([{ do: 'go', at: 1 }, type('One two three. Four five six seven.')])
    expect(countsOf(f, s.entries, 1)).toEqual({ words: 7, sentences: 2, over: 1 })
    expect(faultOf(f, s, 1)).toBe('')
    const refusing = factsOf(cardOf({ limits_refuse: true }))
    expect(run([next], refusing, s)).toMatchObject({ at: 1, refusal: { says: 'The text has 1 word too many. Shorten it to go on.' } })
    const bySentence = factsOf(cardOf({ limits_refuse: true, limit_unit: 'sentences' }))
    expect(faultOf(bySentence, run([{ do: 'go', at: 1 }, type('A. '.repeat(8).replaceAll('A', 'One'))], bySentence), 1)).toBe('has 2 sentences too many')
  })
})

describe('the value', () => {
  it('has code points and exact quotes, and opens at the last look', () => {
    const s = run([take(0, 3), take(0, 6), ...ALL.slice(1)])
    const value = toValue(f, s)
    expect(value.steps.map((x) => [x.passage, x.form])).toEqual([['11', 'extractive'], ['11', 'abstractive'], ['12', 'extractive'], ['12', 'abstractive'], ['', 'extractive'], ['', 'abstractive']])
    for (const { chunks } of value.steps) for (const c of chunks!) {
      const { text } = f.card.passages.find((p) => p.key === c.passage)!
      expect([...text].slice(c.start, c.end).join('')).toBe(c.quote)
    }
    expect(value.steps[0]!.text).toBe('- Fever 🤒 See a doctor if it does not.')
    const again = factsOf(cardOf({ value } as Partial<Card>))
    const reopened = begin(again, null)
    expect(reopened.at).toBe(6)
    expect(toValue(again, reopened)).toEqual(value)
    expect(inWords(value)).toBe('6 texts, 28 words')
    expect(inWords(null)).toBe('')
  })

  it('has an empty text where nothing is relevant', () => {
    const s = run([{ do: 'nothing' }, { do: 'go', at: 2 }, take(1, 1), next, type('A drug.'), next, { do: 'nothing' }, next, next])
    expect(s.complete).toBe(true)
    expect(toValue(f, s).steps.map((x) => [x.nothing, x.text, x.chunks!.length])).toEqual([
      [true, '', 0], [true, '', 0], [false, 'It is a drug.', 1], [false, 'A drug.', 0], [true, '', 0], [true, '', 0],
    ])
  })
})

it('handles a key in a passage of 44,000 characters in less than 20 ms', () => {
  const long = passageOf(1, Array.from({ length: 390 }, (_, n) => `${n % 3 ? '- ' : ''}Sentence ${n} of a passage ${'about the drug nepralin and what it does '.repeat(2)}.${n % 3 ? '   ' : ' '}`))
  expect(long.text.length).toBeGreaterThan(40_000)
  const facts = factsOf(cardOf({ passages: [long, LISTED], asked_steps: [{ passage: '1', form: 'extractive', limit: 250 }, { passage: '1', form: 'abstractive', limit: 250 }] }))
  let s = begin(facts, null)
  const begun = performance.now()
  for (let n = 0; n < 40; n++) {
    const { start, end } = long.sentences[n * 9]!
    s = reduce(facts, s, { do: 'take', range: { passage: 0, start, end } })
    countsOf(facts, s.entries, 0)
  }
  expect((performance.now() - begun) / 40).toBeLessThan(20)
  expect(writtenText(facts, s.entries, 0)).toContain('Sentence 351')
})
