import { describe, expect, it } from 'vitest'
import { changeScale, criterionOf, emptyContent, freshCriterion, freshExample, move, nextValue, removeCriterion, renameKey, renameValue, sameWord, unusedKey, valuesOf, type Content } from './draft.ts'

function two(): Content {
  const content = emptyContent('rate')
  const first = freshCriterion(content)
  changeScale(first, 'categorical')
  renameKeyed(content, first)
  const second = { ...freshCriterion(content), key: 'polarity', na: true, shown_if: { criterion: 'claim', values: ['no'] } }
  second.prefill = [{ if: { criterion: 'claim', values: ['no'] }, target: [], value: null, na: true }]
  content.criteria.push(second)
  return content
}
function renameKeyed(content: Content, first: Content['criteria'][number]) {
  content.criteria.push(first)
  renameKey(content, first.key, 'claim')
}

describe('a draft', () => {
  it('gives keys that are unused and say what is meant', () => {
    expect(unusedKey('Factual consistency!', [])).toBe('factual-consistency')
    expect(unusedKey('Größe', ['grosse'])).toBe('gro-e')
    expect(unusedKey('a', ['a', 'a-2'])).toBe('a-3')
    expect(unusedKey('…', [])).toBe('criterion')
    expect(unusedKey('x'.repeat(99), []).length).toBe(30)
  })
  it('keeps references when a key or a value is renamed', () => {
    const content = two()
    renameKey(content, 'claim', 'makes-a-claim')
    expect(content.criteria[1]!.shown_if!.criterion).toBe('makes-a-claim')
    const [first] = content.criteria
    first!.better = ['yes']
    first!.reason.required_at = ['no']
    first!.examples = [{ ...freshExample(false), value: 'no' }]
    renameValue(content, first!, first!.scale.options[1]!, 'none')
    expect([first!.reason.required_at, first!.examples[0]!.value, content.criteria[1]!.prefill[0]!.if.values, content.criteria[1]!.shown_if!.values]).toEqual([['none'], 'none', ['none'], ['none']])
    expect(first!.better).toEqual(['yes'])
  })
  it('lets go of who asks for a criterion that is taken out', () => {
    const content = two()
    removeCriterion(content, 0)
    expect(content.criteria).toMatchObject([{ key: 'polarity', shown_if: null, prefill: [] }])
  })
  it('moves within the list only', () => {
    const list = ['a', 'b', 'c']
    expect([move(list, 0, -1), move(list, 2, 1), move(list, 0, 1)]).toEqual([false, false, true])
    expect(list).toEqual(['b', 'a', 'c'])
  })
  it('knows what an answer can be', () => {
    const [claim, polarity] = two().criteria
    expect(valuesOf(claim!).map((v) => v.value)).toEqual(['yes', 'no'])
    expect(valuesOf(polarity!).at(-1)).toEqual({ value: '', label: 'N/A' })
    changeScale(polarity!, 'spans')
    expect(valuesOf(polarity!).map((v) => v.value)).toEqual(['none', 'marked', ''])
    changeScale(polarity!, 'text')
    expect(valuesOf(polarity!)).toEqual([])
    changeScale(claim!, 'likert')
    expect([nextValue(claim!.scale), claim!.better]).toEqual(['6', 'higher'])
  })
  it('knows which word of another scale an option is', () => {
    const option = { value: 'Positive', label: '', anchor: '' }
    expect([sameWord(option, ['positive', 'negative']), sameWord(option, ['skip'])]).toEqual(['positive', ''])
  })
  it('finds the criterion of a path', () => {
    expect([criterionOf('criteria.12.scale.options.0.anchor'), criterionOf('title')]).toEqual([12, -1])
  })
})
