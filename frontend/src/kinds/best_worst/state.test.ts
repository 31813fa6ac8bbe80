import { describe, expect, it } from 'vitest'
import { criterion, page, protocol } from '../../rating/samples.ts'
import { sharedBindings } from '../../work/keys.ts'
import { bindings } from './keys.ts'
import { begin, inWords, reduce, says, toValue, type State } from './state.ts'

const options = ['best', 'neither', 'worst'].map((value) => ({ value, label: value, anchor: value }))
const asked = (key: string) => criterion(key, { na: false, scale: { type: 'best-worst', options } })
const TEXTS = ['One.', 'Two.', 'Three.', 'Four.']
const one = page(protocol([asked('overall')]), TEXTS)
const two = page(protocol([asked('overall'), asked('style')]), TEXTS)
/** Digits choose, "e" is Enter, "z" takes back. */
const play = (of: typeof one, keys: string, from: State = begin(of, null)) =>
  [...keys].reduce((s, k) => reduce(of, s, k === 'e' ? { do: 'next' } : k === 'z' ? { do: 'undo' } : { do: 'pick', text: Number(k) - 1 }), from)
const values = (of: typeof one, s: State, n = 0) => toValue(of, s).texts.map((t) => t.said[n]!.value)

describe('a choice of the best and the worst', () => {
  it('takes two keys and Enter', () => {
    const s = play(one, '24e')
    expect(s.complete).toBe(true)
    expect(values(one, s)).toEqual(['neither', 'best', 'neither', 'worst'])
    expect(inWords(toValue(one, s))).toBe('best 2, worst 4')
  })
  it('is not complete without both, and Enter says which is missing', () => {
    expect(play(one, 'e')).toMatchObject({ complete: false, nudge: 'The best is not chosen yet: Overall.' })
    expect(play(one, '2e')).toMatchObject({ complete: false, nudge: 'The worst is not chosen yet: Overall.' })
    expect(play(one, '24').complete).toBe(false)
  })
  it('takes a choice back by its key, and all by undo', () => {
    expect(play(one, '22').picks).toEqual({ overall: {} })
    expect(play(one, '242').picks).toEqual({ overall: { worst: 3 } })
    expect(play(one, '2421').picks).toEqual({ overall: { worst: 3, best: 0 } })
    expect(play(one, '24z').picks).toEqual({ overall: { best: 1 } })
    expect(play(one, '243')).toMatchObject({ picks: { overall: { best: 1, worst: 3 } }, nudge: expect.stringContaining('Both are chosen') })
    expect(play(one, '9').picks).toEqual({})
  })
  it('moves a text from one end to the other by a click, and keeps one text at each end', () => {
    const both = play(one, '24')
    expect(reduce(one, both, { do: 'toggle', criterion: 'overall', end: 'worst', text: 1 }).picks).toEqual({ overall: { worst: 1 } })
    expect(reduce(one, both, { do: 'toggle', criterion: 'overall', end: 'best', text: 0 }).picks).toEqual({ overall: { worst: 3, best: 0 } })
  })
  it('asks several criteria one after the other', () => {
    const s = play(two, '12')
    expect(s.item).toBe(1)
    expect(play(two, '34e', s)).toMatchObject({ complete: true })
    expect(values(two, play(two, '34', s), 1)).toEqual(['neither', 'neither', 'best', 'worst'])
  })
  it('keeps what was chosen where the places are others', () => {
    const value = toValue(one, play(one, '24'))
    const turned = { ...one, texts: one.texts.toReversed() }
    expect(begin(turned, null, value).picks).toEqual({ overall: { best: 2, worst: 0 } })
    expect(begin(one, { ...play(one, '1'), trail: [] }, value).picks).toEqual({ overall: { best: 0 } })
  })
  it('says what is chosen', () => {
    const c = one.protocol.criteria[0]!
    expect(['', '2', '24', '242'].map((keys) => says(play(one, keys), c))).toEqual([
      'Choose the best.', 'Best: 2. Choose the worst.', 'Best: 2. Worst: 4.', 'Worst: 4. Choose the best.',
    ])
  })
  it('has keys that collide with none of the shell', () => {
    const all = [...bindings, ...sharedBindings].flatMap((b) => b.keys)
    expect(new Set(all).size).toBe(all.length)
  })
})
