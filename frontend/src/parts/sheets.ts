/** The result of checking or importing a filled sheet, as the job has it (projects/actions/sheets.py). */

import type { Faults } from './fileFlow.svelte.ts'

export interface Report {
  rows: number
  new: number
  corrections: number
  unchanged: number
  empty: number
  /** Slots handed out and unanswered that the sheet does not hold. */
  missing: number
  faults: Faults
  kept_out: Faults
  /** Of the import only: answers stored. */
  stored?: number
}

/** The result of checking labels that were made elsewhere (projects/actions/elsewhere.py). */
export interface Ratings {
  rows: number
  ratings: number
  units: number
  raters: string[]
  most_raters: number
  least_raters: number
  faults: Faults
}
