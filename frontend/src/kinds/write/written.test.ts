import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { sentenceCount, wordCount } from './written.ts'

const cases = JSON.parse(readFileSync(new URL('../../../../tests/measures/written.json', import.meta.url), 'utf8')) as {
  text: string
  words: number
  sentences: string[]
}[]

it.each(cases)('counts $text as the server does', ({ text, words, sentences }) => {
  expect([wordCount(text), sentenceCount(text)]).toEqual([words, sentences.length])
})
