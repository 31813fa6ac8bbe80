import { expect, it } from 'vitest'
import { inShort, elementMarks, tupleIn, typedMarks, underlined } from './elements.ts'

const element = (name: 'p' | 'i' | 'c' | 'o', text: string, places: [number, number][] = [], form: 'explicit' | 'implied' | 'blank' = 'explicit') => ({
  element: name, form, text, fragments: places.map(([start, end]) => ({ start, end })),
})

it('begins as a sentence does, with implied text in brackets', () => {
  expect(inShort([element('i', 'nepralin'), element('c', 'placebo', [], 'implied'), element('o', 'relapse')])).toBe('nepralin, against [placebo] → relapse')
  expect(inShort([element('c', '', [], 'blank')])).toBe('… → …')
})

it('draws overlapping elements in two lanes, whether they were marked or are typed', () => {
  const text = 'drug A on pain helps'
  const marked = elementMarks(text, [element('o', 'A on pain', [[5, 14]]), element('i', 'drug A', [[0, 6]])])
  expect(underlined(marked).map((m) => [m.tag, m.channel])).toEqual([['I', 'under'], ['O', 'under2']])
  const typed = typedMarks(text, { p: '', i: 'drug A', c: '[placebo]', o: 'A on pain' })
  expect(underlined(typed).map((m) => [m.tag, m.channel])).toEqual([['I', 'under'], ['O', 'under2']])
})

it('keeps the places of a target, and finds those of an input in its own words', () => {
  const pico = [element('i', 'drug A', [[0, 6]])]
  expect(tupleIn('drug A helps', true, pico)[0]!.fragments).toEqual([{ start: 0, end: 6 }])
  expect(tupleIn('We gave Drug A.', false, pico)[0]!.fragments).toEqual([{ start: 8, end: 14 }])
  expect(tupleIn('We gave nothing.', false, pico)[0]!.fragments).toEqual([])
})
