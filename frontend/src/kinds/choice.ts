/** A unit that is answered by choosing one value, whatever the values are: a pure reducer, and the keys of it. */

import type { Binding } from '../work/keymap.ts'

export interface Option<T extends string> {
  readonly value: T
  /** As it is printed on the button. */
  readonly key: string
  /** What it means, under its name. */
  readonly says: string
}

/** What does not change while a unit is being answered. */
export interface Facts<T extends string> {
  /** What Enter takes; null where nothing is. */
  readonly offered: T | null
  /** The answer that the unit came with. */
  readonly before: T | null
  /** A reopened unit waits for Enter: a changed value need not be the last. */
  readonly revisit: boolean
}

export interface State<T extends string> {
  readonly chosen: T | null
  /** Ready to be stored: the page moves on. */
  readonly complete: boolean
}

export type Action<T extends string> = { do: 'choose'; value: T } | { do: 'next' } | { do: 'undo' }

/** Where a unit begins: with its draft, else with its answer. */
export function begin<T extends string>(f: Facts<T>, draft: { chosen?: T | null } | null): State<T> {
  return { chosen: draft?.chosen ?? f.before, complete: false }
}

export function reduce<T extends string>(f: Facts<T>, state: State<T>, action: Action<T>): State<T> {
  switch (action.do) {
    case 'choose':
      return { chosen: action.value, complete: !f.revisit }
    case 'next': {
      const chosen = state.chosen ?? f.offered
      return chosen ? { chosen, complete: true } : state
    }
    case 'undo':
      return state.chosen && state.chosen !== f.before ? { chosen: f.before, complete: false } : state
  }
}

/** The keys of such a task: a value moves on at once. */
export function bindingsOf<T extends string>(options: readonly Option<T>[]): readonly Binding[] {
  return options.map(({ value, key, says }) => ({
    keys: [key.toLowerCase()], command: value, says: `${value}: ${says}`, shown: key, settles: true,
  }))
}
