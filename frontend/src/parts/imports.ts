/** What a check of a file found, as its job keeps it, and reports in groups. */

import type { Faults } from './fileFlow.svelte.ts'

export interface Noticed { kind: string; message: string; item: string; place: string; field: string; text: string; unit?: number | null }
export interface Preview {
  file: string
  /** Names of the files that are taken with it as one set. */
  others: string[]
  sha256: string
  size: number
  format: string
  level: string
  /** The import that brought the very same file, where there is one. */
  known: number | null
  faults: Faults
  counts: Record<string, number>
  values: Record<string, Record<string, number>>
  totals: Record<string, number>
  notices: Noticed[]
}

/** Notices whose words hold all that is searched for, whatever the case. */
export function matching(notices: readonly Noticed[], search: string): Noticed[] {
  const wanted = search.toLowerCase().split(/\s+/).filter(Boolean)
  return notices.filter((n) => {
    const words = `${n.kind} ${n.item} ${n.place} ${n.field} ${n.text} ${n.message}`.toLowerCase()
    return wanted.every((w) => words.includes(w))
  })
}
