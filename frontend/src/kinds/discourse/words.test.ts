import { describe, expect, it } from 'vitest'
import { inShort, toValue, type Card } from './words.ts'

const slot = (name: 'p' | 'i' | 'c' | 'o', text: string) => ({ slot: name, form: 'explicit' as const, text, stands_for: '' as const, fragments: [] })
const card = (suggested: Card['suggested']) => ({ suggested, pico: [slot('i', 'nepralin'), slot('o', 'relapse')] }) as unknown as Card

describe('a relation', () => {
  it('says what became of a suggestion only where one was shown', () => {
    expect(toValue(card(null), 'agreement')).toEqual({ relation: 'agreement' })
    expect(toValue(card('agreement'), 'agreement')).toEqual({ relation: 'agreement', suggestion: 'accepted' })
    expect(toValue(card('agreement'), 'contradiction')).toEqual({ relation: 'contradiction', suggestion: 'edited' })
  })

  it('is about an intervention and an outcome', () => {
    expect(inShort(card(null))).toBe('nepralin → relapse')
    expect(inShort({ pico: [] } as unknown as Card)).toBe('… → …')
  })
})
