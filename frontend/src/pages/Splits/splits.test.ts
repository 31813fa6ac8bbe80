import { expect, it } from 'vitest'
import { ends, isClean, largestInWords, readParts, words, type Split } from './splits.ts'

it('reads the shares of parts, and says what is wrong with them', () => {
  expect(readParts('train=80, dev=10,test=10 %')).toEqual([{ name: 'train', share: 0.8 }, { name: 'dev', share: 0.1 }, { name: 'test', share: 0.1 }])
  expect(readParts('train=33.3, dev=33.3, test=33.4')).toHaveLength(3)
  expect(readParts('train=80, dev=10')).toBe('The shares sum to 90%; they must sum to 100%.')
  for (const text of ['train', 'train=80, dev', 'train=80=1, dev=20', '=100', 'train=-20, dev=120', 'a=x']) expect(readParts(text)).toMatch(/is no part/)
  expect(readParts('all=100')).toBe('At least two parts are needed.')
})

it('draws a line at the end of each part but the last', () => {
  expect(ends([{ name: 'a', share: 0.7 }, { name: 'b', share: 0.15 }, { name: 'c', share: 0.15 }]).map(Math.round)).toEqual([70, 85])
})

it('separates the reviews that leave at commas, spaces and lines', () => {
  expect(words(' 123, 456\n789 ')).toEqual(['123', '456', '789'])
})

it('counts texts that were searched as leakage', () => {
  const pair = (pmids: number, texts: number, near: number | null) => ({ parts: ['a', 'b'], pmids: { count: pmids, first: [] }, texts: { count: texts, first: [] }, near: near === null ? null : { count: near, first: [] } })
  expect(isClean([pair(0, 0, null), pair(0, 0, 0)])).toBe(true)
  for (const leak of [pair(1, 0, null), pair(0, 1, null), pair(0, 0, 1)]) expect(isClean([pair(0, 0, 0), leak])).toBe(false)
})

it('describes the largest component in the words of its level', () => {
  const split = (level: string, parts: string[], reviews = 15) => ({ level, report: { components: { largest: { units: 29, of: 381, reviews, pmids: 102, parts } } } }) as unknown as Split
  expect(largestInWords(split('proposition', ['train']))).toBe('29 of 381 clusters from 15 reviews that share studies or texts, 102 PMIDs in all; all in train.')
  expect(largestInWords(split('sentence', ['train', 'dev'], 1))).toBe('29 of 381 target sentences from one review, 102 PMIDs in all; in train, dev.')
  expect(largestInWords(split('document', ['train'], 29))).toBe('29 of 381 documents that share studies or texts, 102 PMIDs in all; all in train.')
  expect(largestInWords(split('question', []))).toBe('29 of 381 questions.')
})
