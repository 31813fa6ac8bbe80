/** Result of checking a file for import, as stored by its job. */

import type { Faults } from './fileFlow.svelte.ts'

export interface Noticed { kind: string; message: string; item: string; item_name?: string; place: string; field: string; text: string; unit?: number | null }
export interface Preview {
  file: string
  /** Names of further files of the same set. */
  others: string[]
  sha256: string
  size: number
  format: string
  level: string
  /** The import of the same file, if there is one. */
  known: number | null
  faults: Faults
  counts: Record<string, number>
  values: Record<string, Record<string, number>>
  totals: Record<string, number>
  notices: Noticed[]
  /** Whether the file is only stored, because its columns have no roles yet. */
  needs_columns?: boolean
}

/** Kinds of warnings, the most frequent first, with their number and the first examples. */
export function byKind(totals: Readonly<Record<string, number>>, notices: readonly Noticed[], most: number) {
  return Object.entries(totals)
    .sort(([, a], [, b]) => b - a)
    .map(([kind, total]) => ({ kind, total, examples: notices.filter((n) => n.kind === kind).slice(0, most) }))
}
