/** Result of checking or importing a filled sheet (projects/sheets/actions.py). */

import type { Faults } from './fileFlow.svelte.ts'

export interface Report {
  rows: number
  new: number
  corrections: number
  unchanged: number
  empty: number
  /** Open assignments that the sheet does not contain. */
  missing: number
  faults: Faults
  kept_out: Faults
  /** Assumptions made in reading the file. */
  warnings: string[]
  /** Number of stored answers; set by the import only. */
  stored?: number
}

/** Result of checking external ratings (projects/external_ratings/actions.py). */
export interface Ratings {
  rows: number
  ratings: number
  units: number
  raters: string[]
  most_raters: number
  least_raters: number
  faults: Faults
  warnings: string[]
}
