import { expect, it } from 'vitest'
import { rewritten } from './counterfactuals.ts'

it('draws what was put in, replaced and left out, at code points', () => {
  const text = '𝛽-blockers do not harm.'
  const pieces = rewritten({ text, changes: [{ start: 11, end: 17, was: '' }] })
  expect(pieces).toEqual([{ is: 'same', text: '𝛽-blockers ' }, { is: 'new', text: 'do not' }, { is: 'same', text: ' harm.' }])
})

it('puts what is gone before what took its place, and gives the text back without it', () => {
  const text = 'It worsens pain.'
  const pieces = rewritten({ text, changes: [{ start: 3, end: 10, was: 'improves' }, { start: 15, end: 15, was: 'a lot' }] })
  expect(pieces.map((p) => `${p.is}:${p.text}`)).toEqual(['same:It ', 'was:improves ', 'new:worsens', 'same: pain', 'was: a lot', 'same:.'])
  expect(pieces.filter((p) => p.is !== 'was').map((p) => p.text).join('')).toBe(text)
})

it('leaves a text without changes whole', () => {
  expect(rewritten({ text: 'It is so.', changes: [] })).toEqual([{ is: 'same', text: 'It is so.' }])
})
