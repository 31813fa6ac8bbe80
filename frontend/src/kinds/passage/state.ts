/** Ratings of passages and their keys. */

import type { Schemas } from '../../api/client.ts'
import type { Option } from '../choice.ts'

export type Card = Schemas['PassageCard']
export type Value = Schemas['PassageValue']
export type Rating = Value['passage_rating']

export const RATINGS: readonly Option<Rating>[] = [
  { value: 'incorrect', key: '1', says: 'wrong, or no answer' },
  { value: 'related', key: '2', says: 'same topic, other question' },
  { value: 'incomplete', key: '3', says: 'answers a part' },
  { value: 'excellent', key: '4', says: 'nothing important is missing' },
]

/** A paragraph or a list item of a passage. Published passages are flat: " - " begins an item. */
export interface Block {
  readonly item: boolean
  readonly text: string
}

/** The text in paragraphs and list items, for display only. */
export function blocksOf(text: string): readonly Block[] {
  return text.split(/\n+/).flatMap((line) =>
    line.split(/(?:^|\s)- (?=\S)/).map((part, n) => ({ item: n > 0, text: part.replace(/\s+/g, ' ').trim() })).filter((b) => b.text),
  )
}
