/** Reducer and keys of a unit whose value is one of a few options. */

import type { Binding } from '../work/keymap.ts'

export interface Option<T extends string> {
  readonly value: T
  /** Key printed on the button. */
  readonly key: string
  /** Meaning, shown below the name. */
  readonly says: string
}

/** Facts of a unit that do not change while it is answered. */
export interface Facts<T extends string> {
  /** The value that Enter takes, or null. */
  readonly offered: T | null
  /** The answer that the unit came with. */
  readonly before: T | null
  /** A reopened unit waits for Enter: a changed value need not be the last. */
  readonly revisit: boolean
}

export interface State<T extends string> {
  readonly chosen: T | null
  /** Whether the answer can be stored; the page then moves on. */
  readonly complete: boolean
}

export type Action<T extends string> = { do: 'choose'; value: T } | { do: 'next' } | { do: 'undo' }

/** Initial state: the draft, otherwise the answer. */
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

/** Keys of the options; a value completes the unit. */
export function bindingsOf<T extends string>(options: readonly Option<T>[]): readonly Binding[] {
  return options.map(({ value, key, says }) => ({
    keys: [key.toLowerCase()], command: value, says: `${value}: ${says}`, shown: key, settles: true,
  }))
}
