import { describe, expect, it } from 'vitest'
import { toValue, relationOf } from './state.ts'

describe('a relation', () => {
  it('says what became of a suggestion only where one was shown', () => {
    expect(toValue(null, 'agreement')).toEqual({ relation: 'agreement' })
    expect(toValue('agreement', 'agreement')).toEqual({ relation: 'agreement', suggestion: 'accepted' })
    expect(toValue('agreement', 'contradiction')).toEqual({ relation: 'contradiction', suggestion: 'edited' })
  })

  it('is known by how it begins', () => {
    expect([relationOf('Con'), relationOf(' '), relationOf('maybe')]).toEqual(['contradiction', null, undefined])
  })
})
