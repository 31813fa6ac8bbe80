import { expect, test } from 'vitest'
import { designNotes, evenly, isSure } from './design.ts'

test('what a design leaves out is said, and nothing where it leaves out nothing', () => {
  expect(designNotes({ left_out: 0, alike: 0, lowered: false })).toEqual([])
  expect(designNotes({ left_out: 1, alike: 2, lowered: true })).toEqual([
    '1 source is excluded: not all systems have a summary.',
    '2 comparisons are excluded: texts are equal.',
    'All texts are shown without capitals inside sentences, because one system writes none.',
  ])
})

test('balance reads as one sentence, of positions or of sides', () => {
  const certain = (least: number, most: number) => ({ least, most })
  expect(evenly({ systems: ['A', 'B'], positions: [[2, 2], [2, 2]], transitions: [[0, 2], [2, 0]], certain: certain(2, 2) })).toBe('Each system is 2 times at each position and follows each other system 2 times, for any seed.')
  expect(evenly({ systems: ['A', 'B'], positions: [[2, 1], [1, 2]], certain: certain(0, 3) })).toBe('Each system is 0 to 3 times at each position, for any seed.')
  expect(evenly({ systems: ['A', 'B'], sides: [{ left: 1, right: 2 }, { left: 2, right: 1 }], certain: null })).toBe('Each system is 1 to 2 times on each side in this example.')
  expect(evenly({ systems: [], certain: null })).toBe('')
})

test('an example is one wherever a draw could give other counts', () => {
  expect(isSure({ systems: ['A'], certain: { least: 2, most: 2 } })).toBe(true)
  expect(isSure({ systems: ['A'], certain: { least: 2, most: 3 } })).toBe(false)
  expect(isSure({ systems: ['A'], certain: null })).toBe(false)
})
