import { expect, it } from 'vitest'
import { nowhere } from '../tutorial.ts'
import { inWords, supporting, Ticking, type Card, type Value } from './state.ts'

const card = (value: Card['value'] = null): Card => ({
  ...nowhere(1), kind: 'assign_evidence', text: 'Nepralin helps.', pico: [], value,
  // One that was put aside is not among them.
  inputs: [1, 2, 4].map((number) => ({ number, pmid: '1', text: `Text ${number}.` })),
})
const said = (...numbers: number[]): Value => ({ supporting: [1, 2, 4].map((number) => ({ number, said: numbers.includes(number) ? 'supports' : 'does not' })) })

it('says something of every input: all is one key, and an exception one more', () => {
  const done = Ticking.begin(card(), null).all().tick(1).next()
  expect([done.complete, done.value]).toEqual([true, said(1, 4)])
})

it('ticks by place, whatever the numbers are, and takes back', () => {
  const ticked = Ticking.begin(card(), null).tick(2).move(-1).tick()
  expect([ticked.value, ticked.at]).toEqual([said(2, 4), 1])
  expect(ticked.tick(2).value).toEqual(said(2))
  expect(ticked.undo().value).toEqual(said(4))
  expect(Ticking.begin(card(), null).tick(7).canUndo).toBe(false)
  expect(Ticking.begin(card(), null).all().all().ticked).toEqual([])
})

it('asks again before it ends with nothing ticked, but not of an answer that is confirmed', () => {
  const first = Ticking.begin(card(), null).next()
  expect([first.complete, first.nudge]).toEqual([false, 'No text is ticked. Press Enter again if no text supports this proposition.'])
  expect(first.next().value).toEqual(said())
  expect(Ticking.begin(card(said()), null).next().complete).toBe(true)
})

it('ends at once where the evidence was taken back', () => {
  const none = Ticking.begin({ ...card(), inputs: [] }, { ticked: [2], at: 1 })
  expect([none.nudge, none.ticked, none.tick().ticked]).toEqual(['The evidence of this sentence was removed. Press Enter to continue.', [], []])
  expect([none.next().complete, none.next().value, inWords(none.next().value)]).toEqual([true, { supporting: [] }, 'no inputs'])
})

it('begins with the answer or the draft', () => {
  expect(Ticking.begin(card(said(2)), null).ticked).toEqual([2])
  expect(Ticking.begin(card(said(2)), Ticking.begin(card(), null).move(2).tick().draft).draft).toEqual({ ticked: [4], at: 2 })
})

it('is said in words', () => {
  expect([inWords(null), inWords(said(1, 4)), supporting(said(1, 4))]).toEqual(['', '2 of 3 inputs', [1, 4]])
})
