/** The task kinds: all folders beside this file, and those of an extra folder given at build time. */

import extra from 'virtual:extra-kinds'
import type { AnyColumns, Claim, Cluster } from './columns.ts'
import type { CurrentValues, KindDefinition } from './kind.ts'

const own = import.meta.glob<KindDefinition>('./*/index.ts', { eager: true, import: 'default' })
/** The default kind first, then by key. */
export const kinds: readonly KindDefinition[] = [...Object.values(own), ...extra].sort((a, b) => Number(b.usual ?? 0) - Number(a.usual ?? 0))

/** The kind with this key, or undefined, because a server can be newer than this page. */
export function kindOf(key: string): KindDefinition | undefined {
  return kinds.find((k) => k.key === key)
}

/** The values of one unit by field, in one line. */
export function valuesInWords(kind: string, fields: readonly { field: string; value: string }[], brief = false): string {
  const words = kindOf(kind)?.said
  return fields.map((s) => (words ? words(s.field, s.value, brief) : s.value)).filter(Boolean).join(', ')
}

const signs: Readonly<Record<string, string>> = Object.assign({}, ...kinds.map((k) => k.signs))

/** "+ positive"; without a sign the word alone. */
export function signed(value: string): string {
  return signs[value] ? `${signs[value]} ${value}` : value
}

/** "+" of positive; a value without a sign is its own. */
export function signOf(value: string): string {
  return signs[value] ?? value
}

/** The columns of the curate page, in order, for propositions and clusters. */
export interface AllColumns {
  readonly ofClaims: readonly AnyColumns<Claim>[]
  readonly ofClusters: readonly AnyColumns<Cluster>[]
}

export async function loadColumns(): Promise<AllColumns> {
  const found = await Promise.all(kinds.flatMap((k) => (k.columns ? [k.columns()] : [])))
  const all = found.map((m) => m.default).sort((a, b) => a.order - b.order)
  return {
    ofClaims: all.filter((c): c is AnyColumns<Claim> => c.of === 'propositions'),
    ofClusters: all.filter((c): c is AnyColumns<Cluster> => c.of === 'clusters'),
  }
}

/** Current values of all kinds in the corpus, in order, with the kind's key. */
export async function loadCurrentValues(): Promise<readonly (CurrentValues & { kind: string })[]> {
  const found = await Promise.all(kinds.flatMap((k) => (k.currentValues ? [k.currentValues().then((m) => ({ ...m.default, kind: k.key }))] : [])))
  return found.sort((a, b) => a.order - b.order)
}
