import { expect, it } from 'vitest'
import { raised } from './corpus.ts'

it('says all that was raised with an answer', () => {
  expect(raised({ flag: true, outcome: 'answered', reason: '', comment: 'Which arm?' })).toBe('flagged, commented')
  expect(raised({ flag: false, outcome: 'skipped', reason: 'The text is unclear', comment: '' })).toBe('skipped: The text is unclear')
})
