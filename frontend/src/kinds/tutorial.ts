/** Tutorial of a kind: a short guideline and units to try. Nothing is stored. */

import type { Card, Value } from './kind.ts'

export interface TutorialUnit {
  card: Card
  /** The expected value; `why` explains it. */
  expected: Value
  why: string
  /** Whether a value equals the expected one; marked words are not compared. */
  same: (value: Value) => boolean
}

export interface Tutorial {
  /** The guideline in a few sentences. */
  brief: readonly string[]
  units: readonly TutorialUnit[]
}

/** The fields that all cards have, for a unit that does not exist on the server. */
export const nowhere = (n: number) => ({
  assignment: -n, revision: 0, shown: 1, position: n, unit: { id: 0, key: `try-${n}`, unit_name: `try-${n}` }, answered_at: null, outcome: null,
  comment: '', flag: false, references: [], value: null,
})
