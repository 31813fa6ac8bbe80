import { describe, expect, it } from 'vitest'
import { complete, fresh, without } from './questions.ts'

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
