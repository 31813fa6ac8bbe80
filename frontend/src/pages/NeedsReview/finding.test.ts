import { expect, it } from 'vitest'
import { columnsOf, differing } from './finding.ts'

it('marks the values that differ from the usual one', () => {
  expect(differing(['weak', 'moderate', 'weak'])).toEqual([false, true, false])
  expect(differing(['negative', 'positive'])).toEqual([false, true])
  expect(differing(['weak', 'weak'])).toEqual([false, false])
  expect(differing(['weak'])).toEqual([false])
})

it('shows texts only if they differ, and values only if there are any', () => {
  const unit = (text: string, polarity = '') => ({ text, polarity, modality: '' })
  expect(columnsOf([unit('a', 'positive'), unit('a')])).toEqual({ texts: false, values: true })
  expect(columnsOf([unit('a'), unit('b')])).toEqual({ texts: true, values: false })
})
