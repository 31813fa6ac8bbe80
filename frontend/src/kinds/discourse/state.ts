/** The relation of a cluster's inputs: options and conversion to the API value. */

import type { Schemas } from '../../api/client.ts'
import type { Option } from '../choice.ts'

export type Card = Schemas['DiscourseCard']
export type Value = Schemas['DiscourseValue']
export type Relation = Value['relation']

export const RELATIONS: readonly Option<Relation>[] = [
  { value: 'agreement', key: 'A', says: 'the inputs say the same' },
  { value: 'contradiction', key: 'D', says: 'at least one differs' },
]

/** The API value, with the outcome of the suggestion if one was shown. */
export function toValue(suggested: Relation | null, relation: Relation): Value {
  if (!suggested) return { relation }
  return { relation, suggestion: suggested === relation ? 'accepted' : 'edited' }
}

/** The relation that starts with the typed text; undefined if none does, null for an empty text. */
export function relationOf(text: string): Relation | null | undefined {
  const word = text.trim().toLowerCase()
  return word ? RELATIONS.find((r) => r.value.startsWith(word))?.value : null
}

export const noRelation = (text: string): string => `“${text}” is not a relation: use agreement or contradiction.`
