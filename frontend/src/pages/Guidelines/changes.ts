/** What the next version of a guideline concerns, as a lead chooses it. */

import type { Schemas } from '../../api/client.ts'
import { counted } from '../../components/format.ts'

export type Scope = Schemas['GuidelineScopeEnum'] | ''
export type Concern = Schemas['ConcernRequest']
export type FieldChoice = Schemas['FieldChoice']
/** Chosen values by field; `ANY` for the whole field. */
export type Chosen = Record<string, string[]>

export const ANY = '*'

/** The chosen fields in the order of the kind. A whole field has no values. */
export function concernsOf(fields: readonly FieldChoice[], chosen: Chosen): Concern[] {
  return fields
    .filter((f) => chosen[f.field]?.length)
    .map((f) => ({ field: f.field, values: chosen[f.field]!.includes(ANY) ? [] : f.values.map((v) => v.key).filter((key) => chosen[f.field]!.includes(key)) }))
}

/** Whether a change can be stored: it says what it concerns, and why if it concerns answers. */
export function isStated(scope: Scope, concerns: readonly Concern[], reason: string): boolean {
  if (scope === 'wording') return true
  return (scope === 'all' || (scope === 'values' && concerns.length > 0)) && reason.trim() !== ''
}

/** "37 units: 21 current, 16 only answered" */
export function unitsInWords(n: Schemas['Affected']): string {
  return `${counted(n.units, 'unit')}${n.units ? `: ${n.current} current, ${n.answered} only answered` : ''}`
}

/** The changed values in one line: "modality: Weak → Strong 3, Weak → Moderate 1". */
export function changesInWords(changes: readonly Schemas['ValueChange'][]): string {
  const titles = [...new Set(changes.map((c) => c.title))]
  return titles.map((title) => `${title}: ${changes.filter((c) => c.title === title).map((c) => `${c.before} → ${c.after} ${c.units}`).join(', ')}`).join('; ')
}
