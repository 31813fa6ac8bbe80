import { expect, it } from 'vitest'
import { clusterOf, raised } from './corpus.ts'

it('says all that was raised with an answer', () => {
  expect(raised({ flag: true, outcome: 'answered', reason: '', comment: 'Which arm?' })).toBe('flagged, commented')
  expect(raised({ flag: false, outcome: 'skipped', reason: 'The text is unclear', comment: '' })).toBe('skipped: The text is unclear')
})

it('knows the cluster of a unit by its key', () => {
  expect(clusterOf('18462575_0/4')).toBe('18462575_0')
  expect(clusterOf('18462575_0')).toBe('18462575_0')
})
