/** The task kinds: every folder beside this file, and those of a folder that was given when the pages were built. */

import extra from 'virtual:extra-kinds'
import type { AnyColumns, Claim, Cluster } from './columns.ts'
import type { InForce, KindDefinition } from './kind.ts'

const own = import.meta.glob<KindDefinition>('./*/index.ts', { eager: true, import: 'default' })
/** The usual one first, then by their keys. */
export const kinds: readonly KindDefinition[] = [...Object.values(own), ...extra].sort((a, b) => Number(b.usual ?? 0) - Number(a.usual ?? 0))

/** The kind of that key, or undefined: a server may be newer than this page. */
export function kindOf(key: string): KindDefinition | undefined {
  return kinds.find((k) => k.key === key)
}

/** What was said of one unit, field by field, in one line. */
export function said(kind: string, fields: readonly { field: string; value: string }[], brief = false): string {
  const words = kindOf(kind)?.said
  return fields.map((s) => (words ? words(s.field, s.value, brief) : s.value)).filter(Boolean).join(', ')
}

const signs: Readonly<Record<string, string>> = Object.assign({}, ...kinds.map((k) => k.signs))

/** "+ positive"; the word alone where there is no sign for it. */
export function signed(value: string): string {
  return signs[value] ? `${signs[value]} ${value}` : value
}

/** The columns of the curate page, in their order, by what they are of. */
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

/** What the corpus shows of each kind, in order; with the kind's key. */
export async function loadInForce(): Promise<readonly (InForce & { kind: string })[]> {
  const found = await Promise.all(kinds.flatMap((k) => (k.inForce ? [k.inForce().then((m) => ({ ...m.default, kind: k.key }))] : [])))
  return found.sort((a, b) => a.order - b.order)
}
