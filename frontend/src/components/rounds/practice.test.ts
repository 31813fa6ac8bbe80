import { describe, expect, it } from 'vitest'
import { attemptSentence, share } from './practice.ts'

const attempt = { number: 1, units: 10, done: 10, right: 8, is_done: true, passed: true }

describe('practice in sentences', () => {
  it('says what the mark is of', () => {
    expect(attemptSentence(attempt, 80)).toBe('Attempt 1: 8 of 10 units right in their last try (80%), pass mark 80%: passed.')
    expect(attemptSentence({ ...attempt, right: 7, passed: false }, 80)).toContain('(70%), pass mark 80%: not passed.')
  })
  it('says of an attempt that is under way how far it is', () => {
    expect(attemptSentence({ ...attempt, done: 3, right: 2, is_done: false, passed: false }, 80)).toBe('Attempt 1: 3 of 10 units done, 2 right so far.')
  })
  it('never rounds a share up to the mark', () => {
    expect(share({ right: 799, units: 1000 })).toBe('79%')
    expect(share({ right: 0, units: 0 })).toBe('–')
  })
})
