import { expect, it } from 'vitest'
import { match } from '../../work/keymap.ts'
import { sharedBindings } from '../../work/keys.ts'
import { nowhere } from '../tutorial.ts'
import { bindings } from './keys.ts'
import { inWords, Marking, rankOf, type Card } from './state.ts'

const card = (value: Card['value'] = null, ranks: Card['ranks'] = [3, 1, 4]): Card => ({
  ...nowhere(1), kind: 'evidence', target: 'Nepralin helps.', review_title: '', pmid: '1', title: 'A trial', ranks, value,
  sentences: Array.from({ length: 5 }, (_, n) => ({ number: n + 1, text: `Sentence ${n + 1}.`, section: '' })),
})

it('begins at the first sentence, whatever is ranked first, and marks by Space', () => {
  const begun = Marking.begin(card(), null)
  expect([begun.at, begun.marked, begun.complete]).toEqual([0, [], false])
  const done = begun.move(2).mark().next()
  expect([done.complete, done.value]).toEqual([true, { support: [3], ranked: [3, 1, 4] }])
})

it('takes two at most, in the order of the abstract, and takes back', () => {
  const two = Marking.begin(card(), null).mark(4).mark(1)
  expect(two.value.support).toEqual([2, 5])
  const third = two.mark(2)
  expect([third.value.support, third.nudge]).toEqual([[2, 5], 'At most two sentences. Unmark one first.'])
  expect(third.mark(1).mark(2).value.support).toEqual([3, 5])
  expect(third.undo().value.support).toEqual([5])
})

it('says no support at once, and does not end with nothing said', () => {
  const begun = Marking.begin(card(), null)
  expect([begun.nothing().complete, begun.nothing().value.support]).toEqual([true, []])
  expect(begun.mark().nothing().value.support).toEqual([])
  const early = begun.next()
  expect([early.complete, early.nudge]).toEqual([false, 'No sentence is marked. Mark one, or press 0 if none supports the target.'])
  expect(begun.nothing().mark().none).toBe(false)
})

it('begins with the answer or the draft, and Enter keeps what was said', () => {
  expect(Marking.begin(card({ support: [], ranked: [] }), null).next().complete).toBe(true)
  expect(Marking.begin(card({ support: [4], ranked: [] }), null).next().value.support).toEqual([4])
  const left = Marking.begin(card(), null).move(3).mark()
  expect(Marking.begin(card({ support: [1], ranked: [] }), left.draft).draft).toEqual({ marked: [4], at: 3, none: false })
})

it('does not leave the abstract', () => {
  const begun = Marking.begin(card(), null)
  expect([begun.move(-1).at, begun.go(99).at, begun.move(1).move(1).canUndo]).toEqual([0, 4, false])
})

it('ranks three, and none where they are hidden or not there', () => {
  expect([1, 2, 3, 4].map((n) => rankOf(card(), n))).toEqual([2, null, 1, 3])
  expect([rankOf(card(null, null), 3), rankOf(card(null, []), 3)]).toEqual([null, null])
  expect(Marking.begin(card(null, null), null).mark().value.ranked).toEqual([])
})

it('marks the sentence of a rank by its digit, and takes that back', () => {
  const press = (marking: Marking, key: string) => {
    const found = match(bindings, { key }, { place: 'elsewhere', singleKeys: true })
    return found ? marking.markRank(Number(found.command.replace('rank ', ''))) : marking
  }
  const begun = Marking.begin(card(), null)
  const first = press(begun, '1')
  expect([first.marked, first.at]).toEqual([[3], 2])
  expect(press(first, '3').marked).toEqual([3, 4])
  expect(press(press(first, '3'), '2').nudge).toBe('At most two sentences. Unmark one first.')
  expect(press(first, '1').marked).toEqual([])
  expect(press(first, '4')).toBe(first)
})

it('takes no digit for a rank that is hidden, not there or of no sentence', () => {
  for (const ranks of [null, [], [9]]) {
    const begun = Marking.begin(card(null, ranks), null)
    expect(begun.markRank(1)).toBe(begun)
  }
})

it('has each key once, and none that every task has', () => {
  const keys = [...bindings, ...sharedBindings].flatMap((b) => b.keys)
  expect(new Set(keys).size).toBe(keys.length)
})

it('is said in words', () => {
  expect([inWords(null), inWords({ support: [] }), inWords({ support: [3] }), inWords({ support: [3, 4] })]).toEqual(['', 'no support', 'sentence 3', 'sentences 3 and 4'])
})
