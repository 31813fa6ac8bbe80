import { expect, it } from 'vitest'
import { blocksOf } from './state.ts'

it('shows the items of a flat passage as a list, and nothing else changes', () => {
  const text = 'Signs:  The signs include: - Fever - A well-known rash\nSee a doctor - today.'
  expect(blocksOf(text)).toEqual([
    { item: false, text: 'Signs: The signs include:' },
    { item: true, text: 'Fever' },
    { item: true, text: 'A well-known rash' },
    { item: false, text: 'See a doctor' },
    { item: true, text: 'today.' },
  ])
  expect(blocksOf('')).toEqual([])
})
