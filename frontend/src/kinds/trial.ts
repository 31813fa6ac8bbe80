/** Practice for the first time in a kind: what matters in short, and units to try. Nothing of it is stored. */

import type { Card, Value } from './kind.ts'

export interface TrialUnit {
  card: Card
  /** What we would have said, and why. */
  expected: Value
  why: string
  /** Whether an answer comes to the same; marked words are not compared. */
  same: (value: Value) => boolean
}

export interface Trial {
  /** The guideline in some sentences of ours. */
  brief: readonly string[]
  units: readonly TrialUnit[]
}

/** What every card has; a unit to try has no place on the server. */
export const nowhere = (n: number) => ({
  assignment: -n, revision: 0, shown: 1, position: n, unit: { id: 0, key: `try-${n}` }, answered_at: null, outcome: null,
  comment: '', flag: false, references: [], value: null,
})
