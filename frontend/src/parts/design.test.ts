import { expect, test } from 'vitest'
import { designNotes, evenly } from './design.ts'

test('what a design leaves out is said, and nothing where it leaves out nothing', () => {
  expect(designNotes({ left_out: 0, alike: 0, lowered: false })).toEqual([])
  expect(designNotes({ left_out: 1, alike: 2, lowered: true })).toEqual([
    '1 source is left out: not every system has a text of it.',
    '2 pairs are left out: both texts say the same.',
    'All texts are shown without capitals inside sentences, since one system writes so.',
  ])
})

test('balance reads as one sentence, of places or of sides', () => {
  expect(evenly({ systems: ['A', 'B'], places: [[2, 2], [2, 2]], followed: [[0, 2], [2, 0]] })).toBe('Each system comes 2 times at each place and follows each other one 2 times.')
  expect(evenly({ systems: ['A', 'B'], places: [[3, 1], [1, 3]] })).toBe('Each system comes 1 to 3 times at each place.')
  expect(evenly({ systems: ['A', 'B'], sides: [{ left: 1, right: 2 }, { left: 2, right: 1 }] })).toBe('Each system comes 1 to 2 times on each side.')
  expect(evenly({ systems: [] })).toBe('')
})
