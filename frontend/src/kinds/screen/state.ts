/** Whether a review belongs in the data set: the values and their keys. The key of a reason is the exclusion. */

import type { Schemas } from '../../api/client.ts'
import { toUtf16 } from '../../text/offsets.ts'
import type { Option } from '../choice.ts'

export type Card = Schemas['ScreenCard']
export type Value = Schemas['ScreenValue']
export type Screened = Value['screening']

export const CHOICES: readonly Option<Screened>[] = [
  { value: 'include', key: 'I', says: 'it meets every criterion' },
  { value: 'not relevant', key: '1', says: 'about another topic' },
  { value: 'not systematic', key: '2', says: 'no systematic review' },
  { value: 'no intervention', key: '3', says: 'diagnosis, prognosis, frequency' },
  { value: 'superseded', key: '4', says: 'a later version exists' },
  { value: 'retracted', key: '5', says: 'or withdrawn' },
  { value: 'no full text', key: '6', says: 'it cannot be had' },
  { value: 'no studies', key: '7', says: 'it lists none' },
  { value: 'other', key: '8', says: 'say which in a comment' },
]

export const inWords = (screening: string): string => (screening === 'include' ? 'included' : `excluded: ${screening}`)

export interface Part {
  readonly label: string
  readonly text: string
  readonly start: number
}

/** The abstract in its sections, without the labels that stand in it; one part where it has none. */
export function partsOf({ abstract, sections }: Pick<Card, 'abstract' | 'sections'>): readonly Part[] {
  const parts: Part[] = []
  let at = 0
  const put = (label: string, end: number, before = '') => {
    const whole = abstract.slice(at, end).trim()
    const text = before && whole.endsWith(`${before}:`) ? whole.slice(0, -before.length - 1).trim() : whole
    if (text) parts.push({ label, text, start: at })
    at = end
  }
  for (const { label, start, end } of sections) {
    put('', toUtf16(abstract, start), label)
    put(label, toUtf16(abstract, end))
  }
  put('', abstract.length)
  return parts
}
