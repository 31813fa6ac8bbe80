/** Relations in words. */

import type { Schemas } from '../../api/client.ts'

export type Card = Schemas['DiscourseCard']
export type Value = Schemas['DiscourseValue']
export type Relation = Value['relation']

export const RELATIONS: readonly { value: Relation; key: string; says: string }[] = [
  { value: 'agreement', key: 'A', says: 'the inputs say the same' },
  { value: 'contradiction', key: 'D', says: 'at least one says otherwise' },
]

export function inWords(value: Value | null): string {
  return value?.relation ?? ''
}

export function inShort(card: Card): string {
  const text = (slot: string) => card.pico.find((s) => s.slot === slot)?.text || '…'
  return `${text('i')} → ${text('o')}`
}

/** The value as it is sent: with what became of the suggestion, where one was shown. */
export function toValue(card: Card, relation: Relation): Value {
  if (!card.suggested) return { relation }
  return { relation, suggestion: card.suggested === relation ? 'accepted' : 'edited' }
}
