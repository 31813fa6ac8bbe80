/** What a finding shows of its units. */

import type { Schemas } from '../../api/client.ts'

type Unit = Pick<Schemas['FindingUnit'], 'text' | 'polarity' | 'modality'>

/** Which values differ from the most frequent one; of equally frequent values, from the first. */
export function differing(values: readonly string[]): boolean[] {
  const frequency = (value: string) => values.filter((v) => v === value).length
  const most = Math.max(...values.map(frequency))
  const usual = values.find((v) => frequency(v) === most)
  return values.map((v) => v !== usual)
}

/** Columns of the table of units: their texts if these differ, their values if any has one. */
export function columnsOf(units: readonly Unit[]): { texts: boolean; values: boolean } {
  return { texts: new Set(units.map((u) => u.text)).size > 1, values: units.some((u) => u.polarity || u.modality) }
}
