import { describe, expect, it } from 'vitest'
import { begin, formOf, inWords, toValue, type Card } from './words.ts'

describe('a typed slot', () => {
  it('is told by its brackets and by the target text', () => {
    const target = 'Nepralin lowered the risk of relapse; rs4236601[A] did not.'
    expect(formOf('', target)).toBe('blank')
    expect(formOf(' [adults] ', target)).toBe('implied')
    expect(formOf('[anti-VEGF] agents', target)).toBe('partly implied')
    expect(formOf('nepralin', target)).toBe('in the text')
    expect(formOf('rs4236601[A]', target)).toBe('in the text')
    expect(formOf('relapse risk', target)).toMatch(/^reworded/)
  })

  it('is sent without the spaces around it, and a comparator that has a text stands for nothing', () => {
    const typed = { texts: { p: '', i: ' nepralin ', c: ' placebo', o: 'relapse' }, standsFor: 'none' as const }
    expect(toValue(typed).i.text).toBe('nepralin')
    expect(toValue(typed).c).toEqual({ text: 'placebo', fragments: [], stands_for: '' })
    expect(toValue({ ...typed, texts: { ...typed.texts, c: ' ' } }).c.stands_for).toBe('none')
    expect(inWords(toValue(typed))).toBe('P: blank; I: nepralin; C: placebo; O: relapse')
  })

  it('begins with the answer, else with the tuple in force where it is shown', () => {
    const slot = { slot: 'i', form: 'explicit', text: 'nepralin', stands_for: '', fragments: [] }
    expect(begin({ value: null, in_force: [slot] } as unknown as Card).texts.i).toBe('nepralin')
    expect(begin({ value: null, in_force: null } as unknown as Card).texts.i).toBe('')
  })
})
