import { describe, expect, it } from 'vitest'
import { begin, bindingsOf, reduce, type Facts } from './choice.ts'

type Size = 'small' | 'large'
const fresh: Facts<Size> = { offered: null, before: null, revisit: false }

describe('a unit with one value', () => {
  it('is complete with one key, and a reopened one with Enter', () => {
    expect(reduce(fresh, begin(fresh, null), { do: 'choose', value: 'small' })).toEqual({ chosen: 'small', complete: true })
    const again: Facts<Size> = { offered: null, before: 'small', revisit: true }
    const changed = reduce(again, begin(again, null), { do: 'choose', value: 'large' })
    expect(changed).toEqual({ chosen: 'large', complete: false })
    expect(reduce(again, changed, { do: 'next' }).complete).toBe(true)
    expect(reduce(again, changed, { do: 'undo' }).chosen).toBe('small')
  })

  it('takes what is offered by Enter, and nothing where there is none', () => {
    const offered: Facts<Size> = { ...fresh, offered: 'large' }
    expect(reduce(offered, begin(offered, null), { do: 'next' })).toEqual({ chosen: 'large', complete: true })
    const empty = begin(fresh, null)
    expect(reduce(fresh, empty, { do: 'next' })).toBe(empty)
    expect(reduce(fresh, empty, { do: 'undo' })).toBe(empty)
  })

  it('begins with its draft', () => {
    expect(begin(fresh, { chosen: 'small' }).chosen).toBe('small')
  })

  it('has a key for each value, which settles', () => {
    expect(bindingsOf([{ value: 'small', key: 'S', says: 'of no size' }])).toEqual([
      { keys: ['s'], command: 'small', says: 'small: of no size', shown: 'S', settles: true },
    ])
  })
})
