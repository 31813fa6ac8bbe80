import { describe, expect, it } from 'vitest'
import { differences } from './compare.ts'
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
})
