import { expect, it } from 'vitest'
import { distance, similarPages } from './nearest.ts'

it('counts the letters in which words differ', () => {
  expect(distance('round', 'rounds')).toBe(1)
  expect(distance('', 'abc')).toBe(3)
  expect(distance('kitten', 'sitting')).toBe(3)
})

it('finds the page that somebody meant, and none where nothing is near', () => {
  const pages = ['Rounds', 'Results', 'Corpus', 'Needs review'].map((name) => ({ href: `/projects/eye/${name === 'Needs review' ? 'needs-review' : name.toLowerCase()}`, name }))
  expect(similarPages('/projects/eye/round', pages)[0]!.name).toBe('Rounds')
  expect(similarPages('/projects/eye/corpsu/3', pages)[0]!.name).toBe('Corpus')
  expect(similarPages('/projects/eye/needs-review', pages)[0]!.name).toBe('Needs review')
  expect(similarPages('/projects/eye/xyzzy', pages)).toEqual([])
})
