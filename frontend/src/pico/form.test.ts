import { describe, expect, it } from 'vitest'
import { formOf, locate, placeIn } from './form.ts'

const TARGET = 'Bevacizumab was noninferior to ranibizumab for visual acuity; rs4236601[A] was associated with glaucoma.'

describe('the form of an element', () => {
  it.each([
    ['visual acuity', 'explicit'],
    ['bevacizumab', 'explicit'],
    ['acuity of vision', 'reworded'],
    ['[eyes]', 'implied'],
    ['visual acuity [at 1 year]', 'partly implied'],
    ['[adults] with glaucoma', 'partly implied'],
    ['rs4236601[A]', 'explicit'],
    ['  ', 'blank'],
    ['', 'blank'],
  ])('%s is %s', (typed, form) => expect(formOf(typed, TARGET).form).toBe(form))

  it('says where it stands, spaces around it left out', () => {
    const at = formOf(' visual acuity ', TARGET).at!
    expect(TARGET.slice(at.start, at.end)).toBe('visual acuity')
    expect(locate('ab ab', 'ab', 1)).toEqual({ start: 3, end: 5 })
    expect(locate('İb AB', 'ab')).toBeNull()
  })

  it.each([
    ['VA', 'A rise elevating VA, and VAs.', [17, 19]],
    ['DR', 'mydriatic', null],
    ['Asian populations', 'In Caucasian populations', null],
    ['infection', 'H. pylori-infection/reinfection', [10, 19]],
    ['[adults] with glaucoma', 'Those With Glaucoma', [6, 19]],
    ['[implied]', 'implied', null],
    ['é', 'cafe\u0301 é', [6, 7]],
  ])('finds %s in “%s” as whole words only', (element, text, place) => {
    const found = placeIn(text, element)
    expect(found && [found.start, found.end]).toEqual(place)
  })
})
