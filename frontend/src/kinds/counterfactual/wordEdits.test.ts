/** The pages and the server count changed words alike: both read the same file. */

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { toCodePoints } from '../../text/offsets.ts'
import { difference, sameWords } from './wordEdits.ts'

interface Shared {
  differences: { target: string; text: string; words: number | null; edits: number[][] }[]
}
const shared = JSON.parse(readFileSync(new URL('../../../../tests/measures/word_edits.json', import.meta.url), 'utf8')) as Shared

it.each(shared.differences.map((one) => [one.text.slice(0, 30), one] as const))('counts as the server does: %s', (_, one) => {
  const found = difference(one.target, one.text)
  expect(found.words).toBe(one.words)
  const edits = found.edits.map((e) => [
    toCodePoints(one.target, e.target.start), toCodePoints(one.target, e.target.end),
    toCodePoints(one.text, e.text.start), toCodePoints(one.text, e.text.end),
  ])
  expect(edits).toEqual(one.edits)
})

it('knows the same words, whatever their case', () => {
  expect(sameWords('It works.', 'IT works')).toBe(true)
  expect(sameWords('It works.', 'It works well.')).toBe(false)
})
