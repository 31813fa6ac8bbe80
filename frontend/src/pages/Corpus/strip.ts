/** The values of a cluster's inputs as a strip of signs. */

import { counted } from '../../components/format.ts'

/** Signs of a strip; the values after them are counted. */
export const MOST = 24

/** The value of more than half of the decided inputs, or null. */
export function majority(values: readonly (string | null)[]): string | null {
  const decided = values.filter((v) => v !== null)
  return decided.find((v) => 2 * decided.filter((other) => other === v).length > decided.length) ?? null
}

/** "6 inputs: 5 positive, 1 undecided", the most frequent value first. */
export function inWords(values: readonly (string | null)[]): string {
  const n = new Map<string, number>()
  for (const value of values) n.set(value ?? 'undecided', (n.get(value ?? 'undecided') ?? 0) + 1)
  const parts = [...n].sort((a, b) => b[1] - a[1]).map(([value, times]) => `${times} ${value}`)
  return `${counted(values.length, 'input')}: ${parts.join(', ')}`
}
