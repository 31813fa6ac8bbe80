/** The PICO tuple on the curate page: four slots, typed. */

import type { Cells, Cluster } from '../cells.ts'
import { formOf } from './form.ts'

export type Slot = 'p' | 'i' | 'c' | 'o'
type Stands = 'placebo' | 'none' | 'not stated'
export const SLOTS: readonly [Slot, string][] = [['p', 'Population'], ['i', 'Intervention'], ['c', 'Comparator'], ['o', 'Outcome']]

export interface TupleSaid {
  readonly p: string
  readonly i: string
  readonly c: string
  readonly o: string
  /** What a blank comparator means, where it was said. */
  readonly standsFor: Stands | ''
  /** The target text, for the hints. */
  readonly target: string
}

const HINTS = {
  explicit: 'explicit: marked in the target',
  reworded: 'reworded: not word for word in the target',
  implied: 'implied',
  'partly implied': 'partly implied',
  blank: 'blank',
}

function begin(cluster: Cluster): TupleSaid {
  const slot = (name: Slot) => cluster.tuple.slots.find((s) => s.slot === name)
  return {
    p: slot('p')?.text ?? '', i: slot('i')?.text ?? '', c: slot('c')?.text ?? '', o: slot('o')?.text ?? '',
    standsFor: slot('c')?.stands_for ?? '', target: targetOf(cluster),
  }
}

function targetOf(cluster: Cluster): string {
  return cluster.propositions.find((p) => p.position === 0)?.text ?? ''
}

/** "= placebo" in the comparator says what its being blank means. */
function put(said: TupleSaid, slot: Slot, text: string): TupleSaid | string {
  const means = /^=\s*(placebo|none|not stated)\s*$/i.exec(text)?.[1]?.toLowerCase() as Stands | undefined
  if (/^=/.test(text) && slot === 'c' && !means) return 'A blank comparator is “= placebo”, “= none” or “= not stated”.'
  if (text && !text.trim()) return 'Only spaces: a blank slot has no text.'
  if (slot !== 'c') return { ...said, [slot]: text }
  return { ...said, c: means ? '' : text, standsFor: means ?? '' }
}

function hint(said: TupleSaid, slot: Slot): string {
  const { form } = formOf(said[slot], said.target)
  if (slot === 'c' && form === 'blank') return said.standsFor ? `blank: ${said.standsFor}` : 'blank (or “= placebo”, “= none”, “= not stated”)'
  return HINTS[form]
}

export const tupleCells: Cells<Cluster, TupleSaid> = {
  kind: 'tuple',
  columns: SLOTS.map(([slot, title]) => ({
    key: slot,
    title,
    wide: 2,
    show: (said) => (slot === 'c' && said.standsFor ? `= ${said.standsFor}` : said[slot]),
    put: (said, text) => put(said, slot, text),
    hint: (said) => hint(said, slot),
  })),
  begin,
  follow: (said, cluster) => ({ ...said, target: targetOf(cluster) }),
  state: (cluster) => cluster.tuple,
  inForce: (cluster) => cluster.tuple.origin !== null,
  same: (a, b) => SLOTS.every(([s]) => a[s] === b[s]) && a.standsFor === b.standsFor,
  lacks: (said) => (SLOTS.some(([s]) => said[s].trim()) ? '' : 'a slot that is not blank'),
  value: ({ p, i, c, o, standsFor }) => ({ p: { text: p }, i: { text: i }, c: { text: c, stands_for: standsFor }, o: { text: o } }),
  words: (said) => SLOTS.map(([s]) => `${s.toUpperCase()} ${said[s] || 'blank'}`).join(' · '),
  columnOf: (path) => (SLOTS.find(([s]) => path.split('.').includes(s))?.[0] ?? 'i'),
}
