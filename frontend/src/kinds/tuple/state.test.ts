import { describe, expect, it } from 'vitest'
import { begin, formInWords, inWords, lacks, resumed, toValue, typedOf, type Card, type Typed } from './state.ts'

const typed: Typed = { p: '', i: ' nepralin ', c: ' placebo', o: 'relapse', standsFor: 'none' }

describe('a typed element', () => {
  it('is told by its brackets and by the target text', () => {
    const target = 'Nepralin lowered the risk of relapse; rs4236601[A] did not.'
    expect(formInWords('', target)).toBe('blank')
    expect(formInWords(' [adults] ', target)).toBe('implied')
    expect(formInWords('[anti-VEGF] agents', target)).toBe('partly implied')
    expect(formInWords('nepralin', target)).toBe('in the text')
    expect(formInWords('rs4236601[A]', target)).toBe('in the text')
    expect(formInWords('relapse risk', target)).toMatch(/^reworded/)
  })

  it('is sent without the spaces around it, and a comparator that has a text stands for nothing', () => {
    expect(toValue(typed).i.text).toBe('nepralin')
    expect(toValue(typed).c).toEqual({ text: 'placebo', fragments: [], stands_for: '' })
    expect(toValue({ ...typed, c: ' ' }).c.stands_for).toBe('none')
    expect(inWords(toValue(typed))).toBe('P: blank; I: nepralin; C: placebo; O: relapse')
  })
})

describe('a tuple', () => {
  const element = { element: 'i', form: 'explicit', text: 'nepralin', stands_for: '', fragments: [] } as const

  it('begins with the answer, else with the tuple in force where it is shown', () => {
    expect(begin({ value: toValue(typed), current: [element] } as unknown as Card).o).toBe('relapse')
    expect(begin({ value: null, current: [element] } as unknown as Card)).toEqual(typedOf([element]))
    expect(begin({ value: null, current: null } as unknown as Card).i).toBe('')
  })

  it('goes on from a draft, also from one that an earlier version of this page kept', () => {
    expect(resumed(null)).toBeNull()
    expect(resumed(typed)).toEqual(typed)
    expect(resumed({ texts: { p: '', i: 'x', c: '', o: '' }, standsFor: 'placebo' })).toEqual({ p: '', i: 'x', c: '', o: '', standsFor: 'placebo' })
  })

  it('has at least one element that is not blank', () => {
    expect(lacks(typed)).toBe('')
    expect(lacks({ p: ' ', i: '', c: '', o: '', standsFor: 'none' })).toBe('an element')
  })
})
