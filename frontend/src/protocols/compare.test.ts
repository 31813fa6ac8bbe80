import { describe, expect, it } from 'vitest'
import { differences, words } from './compare.ts'
import { emptyContent, freshCriterion, freshExample, type Content } from './draft.ts'

function draft(): Content {
  const content = emptyContent('rate')
  content.criteria.push({ ...freshCriterion(content), key: 'coherence', name: 'Coherence', examples: [freshExample(true)] })
  return content
}

describe('two versions', () => {
  it('differ in nothing where they are the same', () => {
    expect(differences(draft(), draft())).toEqual([])
  })
  it('are told apart by the field, with an option that was added', () => {
    const after = draft()
    after.criteria[0]!.scale.options[2]!.anchor = 'In between'
    after.criteria[0]!.scale.options.push({ value: '6', label: '6', anchor: 'More' })
    after.criteria[0]!.examples[0]!.good = false
    expect(differences(draft(), after)).toEqual([
      { where: 'Coherence, options, 3, anchor', before: '', after: 'In between' },
      { where: 'Coherence, options, 6, label', before: '', after: '6' },
      { where: 'Coherence, options, 6, anchor', before: '', after: 'More' },
      { where: 'Coherence, options, order', before: '1, 2, 3, 4, 5', after: '1, 2, 3, 4, 5, 6' },
      { where: 'Coherence, example 1, is', before: 'good', after: 'bad' },
    ])
  })
  it('are told word by word, and both texts can be read from it', () => {
    const before = 'Is it one  text?', after = 'Is it a well-ordered  text?'
    const found = words(before, after)
    expect(found.filter((p) => p.kind !== 'new').map((p) => p.text).join('')).toBe(before)
    expect(found.filter((p) => p.kind !== 'gone').map((p) => p.text).join('')).toBe(after)
    expect(found.filter((p) => p.kind === 'gone').map((p) => p.text)).toEqual(['one'])
    expect(words('', 'new')).toEqual([{ text: 'new', kind: 'new' }])
    expect(words('x '.repeat(2000), 'y')).toHaveLength(2)
  })
})
