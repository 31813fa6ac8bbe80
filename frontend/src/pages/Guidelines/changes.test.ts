import { describe, expect, test } from 'vitest'
import { ANY, changesInWords, concernsOf, isStated, unitsInWords } from './changes.ts'

const FIELDS = [
  { field: 'polarity', title: 'polarity', values: [{ key: 'positive', title: 'Positive' }, { key: 'n/a', title: 'n/a' }] },
  { field: 'modality', title: 'modality', values: [{ key: 'strong', title: 'Strong' }, { key: 'weak', title: 'Weak' }] },
  { field: 'sentence', title: 'sentence', values: [] },
]

describe('what a version concerns', () => {
  test('is in the order of the kind, and a whole field has no values', () => {
    const chosen = { sentence: [ANY], modality: ['weak', 'strong'], polarity: [] }
    expect(concernsOf(FIELDS, chosen)).toEqual([{ field: 'modality', values: ['strong', 'weak'] }, { field: 'sentence', values: [] }])
    expect(concernsOf(FIELDS, { modality: ['weak', ANY] })).toEqual([{ field: 'modality', values: [] }])
  })

  test('needs a reason unless only the wording changes', () => {
    const weak = [{ field: 'modality', values: ['weak'] }]
    expect(isStated('wording', [], '')).toBe(true)
    expect(isStated('', [], 'x')).toBe(false)
    expect([isStated('values', weak, ' '), isStated('values', weak, 'x'), isStated('values', [], 'x')]).toEqual([false, true, false])
    expect([isStated('all', [], ''), isStated('all', [], 'x')]).toEqual([false, true])
  })

  test('is counted in words', () => {
    expect(unitsInWords({ units: 37, current: 21, answered: 16 })).toBe('37 units: 21 current, 16 only answered')
    expect(unitsInWords({ units: 0, current: 0, answered: 0 })).toBe('0 units')
  })

  test('has its changes by field', () => {
    const weak = { field: 'modality', title: 'modality', before: 'Weak' }
    expect(changesInWords([{ ...weak, after: 'Strong', units: 3 }, { ...weak, after: 'Moderate', units: 1 }])).toBe('modality: Weak → Strong 3, Weak → Moderate 1')
  })
})
