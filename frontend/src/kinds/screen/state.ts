/** Screening options and their keys. Choosing a reason excludes the review. */

import type { Schemas } from '../../api/client.ts'
import { toUtf16 } from '../../text/offsets.ts'
import type { Option } from '../choice.ts'

export type Card = Schemas['ScreenCard']
export type Value = Schemas['ScreenValue']
export type Screened = Value['screening']

export const CHOICES: readonly Option<Screened>[] = [
  { value: 'include', key: 'I', says: 'meets every criterion' },
  { value: 'not relevant', key: '1', says: 'about another topic' },
  { value: 'not systematic', key: '2', says: 'not a systematic review' },
  { value: 'no intervention', key: '3', says: 'diagnosis, prognosis, frequency' },
  { value: 'superseded', key: '4', says: 'a later version exists' },
  { value: 'retracted', key: '5', says: 'or withdrawn' },
  { value: 'no full text', key: '6', says: 'unavailable' },
  { value: 'no studies', key: '7', says: 'lists none' },
  { value: 'other', key: '8', says: 'explain in a comment' },
]

export interface Part {
  readonly label: string
  readonly text: string
  readonly start: number
}

/** The abstract in sections, without their labels in the text; one part if it has no sections. */
export function partsOf({ abstract, sections }: Pick<Card, 'abstract' | 'sections'>): readonly Part[] {
  const parts: Part[] = []
  let at = 0
  const addSection = (label: string, end: number, before = '') => {
    const whole = abstract.slice(at, end).trim()
    const text = before && whole.endsWith(`${before}:`) ? whole.slice(0, -before.length - 1).trim() : whole
    if (text) parts.push({ label, text, start: at })
    at = end
  }
  for (const { label, start, end } of sections) {
    addSection('', toUtf16(abstract, start), label)
    addSection(label, toUtf16(abstract, end))
  }
  addSection('', abstract.length)
  return parts
}
