import { describe, expect, it } from 'vitest'
import { complete, fresh, inUse, without } from './questions.ts'

const question = { question: 'What is polarity?', options: ['a rise', 'benefit or harm', 'size'], right: 1, explanation: '' }

describe('questions about a guideline', () => {
  it('are complete with a text and options that differ', () => {
    expect(complete([])).toBe(true)
    expect(complete([question])).toBe(true)
    expect(complete([question, fresh()])).toBe(false)
    expect(complete([{ ...question, options: ['same', ' same'], right: 0 }])).toBe(false)
    expect(complete([{ ...question, right: 3 }])).toBe(false)
  })
  it('keep what is right when another option goes', () => {
    expect(without(question, 0)).toMatchObject({ options: ['benefit or harm', 'size'], right: 0 })
    expect(without(question, 2)).toMatchObject({ options: ['a rise', 'benefit or harm'], right: 1 })
    expect(without(question, 1)).toMatchObject({ options: ['a rise', 'size'], right: 0 })
  })
})

it('opens the guideline of the newest open round, else the first', () => {
  const of = (id: number, in_use_since: string | null) => ({ id, in_use_since })
  expect(inUse([])).toBeUndefined()
  expect(inUse([of(1, null), of(2, null)])?.id).toBe(1)
  expect(inUse([of(1, null), of(2, '2026-11-01T10:00:00Z'), of(3, '2026-11-20T10:00:00Z')])?.id).toBe(3)
})
