/** The relation of a cluster's inputs, on every page: its values, and the value as it is sent. */

import type { Schemas } from '../../api/client.ts'
import type { Option } from '../choice.ts'

export type Card = Schemas['DiscourseCard']
export type Value = Schemas['DiscourseValue']
export type Relation = Value['relation']

export const RELATIONS: readonly Option<Relation>[] = [
  { value: 'agreement', key: 'A', says: 'the inputs say the same' },
  { value: 'contradiction', key: 'D', says: 'at least one says otherwise' },
]

/** The value as it is sent: with what became of the suggestion, where one was shown. */
export function toValue(suggested: Relation | null, relation: Relation): Value {
  if (!suggested) return { relation }
  return { relation, suggestion: suggested === relation ? 'accepted' : 'edited' }
}

/** The relation that begins with what was typed; undefined where there is none, null where nothing was typed. */
export function typed(text: string): Relation | null | undefined {
  const word = text.trim().toLowerCase()
  return word ? RELATIONS.find((r) => r.value.startsWith(word))?.value : null
}

export const noRelation = (text: string): string => `“${text}” is no relation: agreement or contradiction.`
