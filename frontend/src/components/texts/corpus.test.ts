import { expect, it } from 'vitest'
import { contents, raised } from './corpus.ts'

it('says all that was raised with an answer', () => {
  expect(raised({ flag: true, outcome: 'answered', reason: '', comment: 'Which arm?' })).toBe('flagged, commented')
  expect(raised({ flag: false, outcome: 'skipped', reason: 'The text is unclear', comment: '' })).toBe('skipped: The text is unclear')
})

it('names the material of a project with its counts', () => {
  const kind = (count: number | null) => ({ singular: 'study', plural: 'studies', count })
  expect(contents([kind(381), kind(1), kind(null)])).toEqual(['381 studies', '1 study', 'studies'])
  expect(contents([])).toEqual(['No material yet'])
})
