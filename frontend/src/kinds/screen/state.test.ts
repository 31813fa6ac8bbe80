import { expect, it } from 'vitest'
import screen from './index.ts'
import { CHOICES, partsOf } from './state.ts'
import { inWords } from './words.ts'

it('has a key of its own for every value', () => {
  expect(new Set(CHOICES.map((c) => c.key)).size).toBe(CHOICES.length)
  expect([inWords('include'), inWords('retracted')]).toEqual(['included', 'excluded: retracted'])
})

it('shows a structured abstract by its sections, and nothing twice', () => {
  // Offsets are of code points: the first letter is two units long here.
  const abstract = '𝛼 trial.\nAIM: To see.\nRESULTS: Less pain.\nFunded by nobody.'
  const at = (text: string) => [...abstract.slice(0, abstract.indexOf(text))].length
  const section = (label: string, text: string) => ({ label, start: at(text), end: at(text) + text.length })
  expect(partsOf({ abstract, sections: [section('AIM', 'To see.'), section('RESULTS', 'Less pain.')] }).map((p) => [p.label, p.text])).toEqual([
    ['', '𝛼 trial.'], ['AIM', 'To see.'], ['RESULTS', 'Less pain.'], ['', 'Funded by nobody.'],
  ])
  expect(partsOf({ abstract: 'One text.', sections: [] }).map((p) => p.text)).toEqual(['One text.'])
  expect(partsOf({ abstract: '', sections: [] })).toEqual([])
})

it('says a stored value as people read it, wherever pages show one', () => {
  expect([screen.said('screening', 'include'), screen.said('screening', 'no full text')]).toEqual(['included', 'excluded: no full text'])
})
