/** The result of checking or importing a filled sheet, as the job has it (projects/actions/sheets.py). */

export interface CellFault {
  /** As a spreadsheet program names the cell. */
  place: string
  row: number
  column: string
  message: string
}

export interface Report {
  rows: number
  new: number
  corrections: number
  unchanged: number
  empty: number
  /** Slots handed out and unanswered that the sheet does not hold. */
  missing: number
  faults_total: number
  faults: CellFault[]
  kept_out_total: number
  kept_out: CellFault[]
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
  faults_total: number
  faults: CellFault[]
}
