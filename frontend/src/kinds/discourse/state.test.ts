import { describe, expect, it } from 'vitest'
import { begin, facts, reduce, toValue, typed } from './state.ts'

const fresh = facts({ suggested: null, value: null }, false)

describe('a relation', () => {
  it('says what became of a suggestion only where one was shown', () => {
    expect(toValue(null, 'agreement')).toEqual({ relation: 'agreement' })
    expect(toValue('agreement', 'agreement')).toEqual({ relation: 'agreement', suggestion: 'accepted' })
    expect(toValue('agreement', 'contradiction')).toEqual({ relation: 'contradiction', suggestion: 'edited' })
  })

  it('is complete with one key, and on a reopened cluster with Enter', () => {
    expect(reduce(fresh, begin(fresh, null), { do: 'choose', value: 'agreement' })).toEqual({ chosen: 'agreement', complete: true })
    const again = facts({ suggested: null, value: { relation: 'agreement' } }, true)
    const changed = reduce(again, begin(again, null), { do: 'choose', value: 'contradiction' })
    expect(changed).toEqual({ chosen: 'contradiction', complete: false })
    expect(reduce(again, changed, { do: 'next' }).complete).toBe(true)
    expect(reduce(again, changed, { do: 'undo' }).chosen).toBe('agreement')
  })

  it('takes the suggestion by Enter, and nothing where there is none', () => {
    const suggested = facts({ suggested: 'contradiction', value: null }, false)
    expect(reduce(suggested, begin(suggested, null), { do: 'next' })).toEqual({ chosen: 'contradiction', complete: true })
    const empty = begin(fresh, null)
    expect(reduce(fresh, empty, { do: 'next' })).toBe(empty)
    expect(reduce(fresh, empty, { do: 'undo' })).toBe(empty)
  })

  it('begins with its draft', () => {
    expect(begin(fresh, { chosen: 'agreement' }).chosen).toBe('agreement')
  })

  it('is known by how it begins', () => {
    expect([typed('Con'), typed(' '), typed('maybe')]).toEqual(['contradiction', null, undefined])
  })
})
