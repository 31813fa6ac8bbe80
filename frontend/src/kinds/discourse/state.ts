/** The relation of a cluster's inputs, on every page: a pure reducer, and the value as it is sent. */

import type { Schemas } from '../../api/client.ts'

export type Card = Schemas['DiscourseCard']
export type Value = Schemas['DiscourseValue']
export type Relation = Value['relation']

export const RELATIONS: readonly { value: Relation; key: string; says: string }[] = [
  { value: 'agreement', key: 'A', says: 'the inputs say the same' },
  { value: 'contradiction', key: 'D', says: 'at least one says otherwise' },
]

/** What does not change while a cluster is being answered. */
export interface Facts {
  /** By the polarities of the inputs; null where none is shown. */
  readonly suggested: Relation | null
  /** The answer that the unit came with. */
  readonly before: Relation | null
  /** A reopened cluster waits for Enter: a changed value need not be the last. */
  readonly revisit: boolean
}

export interface State {
  readonly chosen: Relation | null
  /** Ready to be stored: the page moves on. */
  readonly complete: boolean
}

export type Action = { do: 'choose'; value: Relation } | { do: 'next' } | { do: 'undo' }

export function facts(card: Pick<Card, 'suggested' | 'value'>, revisit: boolean): Facts {
  return { suggested: card.suggested, before: card.value?.relation ?? null, revisit }
}

/** Where a cluster begins: with its draft, else with its answer. */
export function begin(f: Facts, draft: { chosen?: Relation | null } | null): State {
  return { chosen: draft?.chosen ?? f.before, complete: false }
}

export function reduce(f: Facts, state: State, action: Action): State {
  switch (action.do) {
    case 'choose':
      return { chosen: action.value, complete: !f.revisit }
    case 'next': {
      const chosen = state.chosen ?? f.suggested
      return chosen ? { chosen, complete: true } : state
    }
    case 'undo':
      return state.chosen && state.chosen !== f.before ? { chosen: f.before, complete: false } : state
  }
}

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
