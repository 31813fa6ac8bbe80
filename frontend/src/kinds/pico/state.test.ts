import { describe, expect, it } from 'vitest'
import { flipped, formShort, inputOfRanges, partsOf, inputOfText } from '../../pico/elementInput.ts'
import type { ElementKey } from '../../pico/elements.ts'
import { begin, facts, inWords, reduce, resumed, step, toValue, twin, waiting, type Action, type Card, type State } from './state.ts'

const TEXT = 'In adults with ocular hypertension (OHT), nepralin lowered pressure and pain compared with dorsalin; rs0000001[A] agents did not.'
const f = facts(TEXT)
const empty = () => begin({ text: TEXT, value: null, current: null })
const range = (quote: string) => ({ start: TEXT.indexOf(quote), end: TEXT.indexOf(quote) + quote.length })
const drag = (quote: string, keepEarlier = false): Action => ({ do: 'drag', range: range(quote), characters: false, keepEarlier })
const key = (element: ElementKey, add = false): Action => ({ do: 'element', element, add })
const after = (...actions: Action[]): State => actions.reduce((state, action) => reduce(f, state, action), empty())
const texts = (state: State, n = state.active) => Object.fromEntries((['p', 'i', 'c', 'o'] as const).flatMap((s) => (state.rows[n]![s] ? [[s, state.rows[n]![s]!.text]] : [])))

describe('an element', () => {
  it.each([
    ['nepralin', 'nepralin', 'explicit'],
    ['Nepralin', 'Nepralin', 'explicit'],
    ['anti-VEGF agents', '[anti-VEGF] agents', 'partly implied'],
    ['[anti-VEGF] agents', '[anti-VEGF] agents', 'partly implied'],
    ['rs0000001[A]', 'rs0000001[A]', 'explicit'],
    ['placebo', '[placebo]', 'implied'],
    ['pain of adults', 'pain of adults', 'reworded'],
    ['pressure dorsalin', 'pressure dorsalin', '2 parts'],
    ['pressure in pain', 'pressure in pain', 'reworded'],
    ['nepralin tablets', 'nepralin [tablets]', 'partly implied'],
  ])('typed as “%s” is %s, %s', (said, text, form) => {
    const element = inputOfText(said, TEXT)!
    expect([element.text, formShort(element, TEXT)]).toEqual([text, form])
    // What is drawn is what a file has, and typed again it is the same.
    expect(partsOf(element).map((p) => p.text).join('')).toBe(element.text)
    expect(inputOfText(element.text, TEXT)!.text).toBe(text)
  })

  it('is blank where nothing was typed, and takes the bracket that a selection has opened', () => {
    expect(inputOfText('  ', TEXT)).toBeNull()
    expect(inputOfRanges(TEXT, [range('ocular hypertension (OHT')]).text).toBe('ocular hypertension (OHT)')
  })

  it('is flipped between implied and reworded, and nothing else is', () => {
    const implied = inputOfText('placebo tablets', TEXT)!
    expect(flipped(implied, TEXT)!.text).toBe('placebo tablets')
    expect(flipped(flipped(implied, TEXT)!, TEXT)!.text).toBe('[placebo tablets]')
    expect(flipped(inputOfText('pain', TEXT)!, TEXT)).toBeNull()
  })
})

describe('the waiting element', () => {
  it('takes a selection by mouse at once, by how often elements are filled', () => {
    const state = after(drag('nepralin'), drag('pressure'), drag('dorsalin'), drag('adults'))
    expect(texts(state)).toEqual({ i: 'nepralin', o: 'pressure', c: 'dorsalin', p: 'adults' })
    expect(waiting(state)).toBe('')
  })

  it('gives what it took to the element whose key is pressed next, and gets its old value back', () => {
    const state = after(drag('nepralin'), drag('dorsalin'), key('c'))
    expect(texts(state)).toEqual({ i: 'nepralin', c: 'dorsalin' })
    expect(waiting(state)).toBe('o')
    expect(texts(reduce(f, state, { do: 'undo' }))).toEqual({ i: 'nepralin', o: 'dorsalin' })
  })

  it('never takes a selection by keys, which waits for its element', () => {
    const state = after({ do: 'move', to: 1, extend: false })
    expect(texts(state)).toEqual({})
    expect(texts(reduce(f, state, key('p')))).toEqual({ p: 'adults' })
  })

  it('is never a comparator that was said to be blank', () => {
    expect(waiting(after(drag('nepralin'), drag('pain'), { do: 'stands for', value: 'placebo' }))).toBe('p')
  })
})

describe('an element of several parts', () => {
  it('grows by Ctrl, by Shift with its key, and by Space', () => {
    expect(texts(after(drag('nepralin'), drag('pressure'), drag('pain', true)))).toMatchObject({ o: 'pressure pain' })
    const shift = after(drag('nepralin'), drag('pressure'), { do: 'let go' }, { do: 'tap', word: f.words.findIndex((w) => TEXT.slice(w.start, w.end) === 'pain') }, key('o', true))
    expect(texts(shift)).toMatchObject({ o: 'pressure pain' })
    const space = after({ do: 'move', to: 1, extend: false }, { do: 'keep' }, { do: 'move', to: 3, extend: false }, key('p'))
    expect(space.rows[0]!.p!.ranges).toHaveLength(2)
  })
})

describe('same again', () => {
  const first = [drag('nepralin'), drag('pressure'), drag('dorsalin'), { do: 'let go' }] as Action[]

  it('copies all four elements, is at once the same as the first, and waits for its outcome alone', () => {
    const state = after(...first, { do: 'again' })
    expect(texts(state)).toEqual({ i: 'nepralin', o: 'pressure', c: 'dorsalin' })
    expect([twin(state.rows, 1), waiting(state)]).toEqual([0, 'o'])
    const refused = reduce(f, state, { do: 'next' })
    expect([refused.complete, refused.nudge]).toEqual([false, 'Proposition 2 equals proposition 1. Change an element, or remove the proposition (X).'])
    const told = reduce(f, state, drag('pain'))
    expect([texts(told).o, texts(told, 0).o, waiting(told)]).toEqual(['pain', 'pressure', ''])
    expect(reduce(f, told, { do: 'next' }).complete).toBe(true)
  })

  it('takes a selection that waits as its outcome', () => {
    const at = f.words.findIndex((w) => TEXT.slice(w.start, w.end) === 'pain')
    expect(texts(after(...first, { do: 'tap', word: at }, { do: 'again' })).o).toBe('pain')
  })

  it('is taken out again, and undone', () => {
    const state = after(...first, { do: 'again' }, { do: 'remove', row: 1 })
    expect([state.rows.length, state.active]).toEqual([1, 0])
    expect(reduce(f, state, { do: 'undo' }).rows).toHaveLength(2)
    expect(after({ do: 'remove', row: 0 }).rows).toHaveLength(1)
  })
})

describe('going on', () => {
  it('points once at a blank outcome, and never takes a proposition without any element', () => {
    const state = reduce(f, after(drag('nepralin')), { do: 'next' })
    expect([state.complete, state.nudge]).toEqual([false, 'Outcome of proposition 1 is blank. Fill it, or press Enter again to leave it blank.'])
    expect(reduce(f, state, { do: 'next' }).complete).toBe(true)
    expect(reduce(f, reduce(f, empty(), { do: 'next' }), { do: 'next' }).complete).toBe(false)
  })

  it('sends code points with their quotes, and reads back the same', () => {
    const text = '𝛼-nepralin lowered pain.'
    const g = facts(text)
    const one = reduce(g, begin({ text, value: null, current: null }), { do: 'drag', range: { start: 0, end: 11 }, characters: false, keepEarlier: false })
    const value = toValue(text, reduce(g, one, { do: 'stands for', value: 'placebo' }).rows)
    expect(value.tuples[0]).toMatchObject({ i: { text: '𝛼-nepralin', fragments: [{ start: 0, end: 10, quote: '𝛼-nepralin' }] }, c: { text: '', stands_for: 'placebo' } })
    const card = { text, value, current: null } as unknown as Card
    expect(toValue(text, begin(card).rows)).toEqual(value)
    expect(inWords(value)).toBe('𝛼-nepralin, against placebo → …')
    expect(inWords(null)).toBe('')
  })

  it('types into a field, and Tab goes on to the next', () => {
    const state = after({ do: 'open', element: 'i' }, { do: 'type', text: 'nepralin', then: 'c' })
    expect([texts(state).i, state.field]).toEqual(['nepralin', 'c'])
    expect(after({ do: 'open', element: 'i' }, { do: 'type', text: '' }).trail).toHaveLength(0)
  })

  it('goes on from a draft, and undoes what was done before it', () => {
    const state = after(drag('nepralin'), drag('pain'))
    const again = resumed({ said: step(state), trail: state.trail })!
    expect(texts(again)).toEqual(texts(state))
    expect(texts(reduce(f, again, { do: 'undo' }))).toEqual({ i: 'nepralin' })
    expect(resumed(null)).toBeNull()
  })
})
