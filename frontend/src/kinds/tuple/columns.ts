/** The PICO tuple on the curate page: four elements, typed. */

import { formOf } from '../../pico/form.ts'
import { ORDER, ELEMENTS, typedMarks, underlined, type ElementKey } from '../../pico/elements.ts'
import type { Cluster, KindColumns } from '../columns.ts'
import { newRow } from './newRow.ts'
import { lacks, standsForOf, toValue, typedOf, type Typed } from './state.ts'

export type TupleSaid = Typed & {
  /** The target text, for the hints. */
  readonly target: string
}

const HINTS = {
  explicit: 'explicit: marked in the target',
  reworded: 'reworded: not verbatim in the target',
  implied: 'implied',
  'partly implied': 'partly implied',
  blank: 'blank',
}

function targetOf(cluster: Cluster): string {
  return cluster.propositions.find((p) => p.position === 0)?.text ?? ''
}

function putCell(said: TupleSaid, slot: ElementKey, text: string): TupleSaid | string {
  const means = slot === 'c' ? standsForOf(text) : undefined
  if (/^=/.test(text) && slot === 'c' && means === undefined) return 'Enter a blank comparator as “= placebo”, “= none” or “= not stated”.'
  if (text && !text.trim()) return 'Only spaces. Leave a blank element empty.'
  if (slot === 'c') return { ...said, c: means === undefined ? text.trim() : '', standsFor: means ?? '' }
  return { ...said, [slot]: text.trim() }
}

function hint(said: TupleSaid, slot: ElementKey): string {
  const { form } = formOf(said[slot], said.target)
  if (slot === 'c' && form === 'blank') return said.standsFor ? `blank: ${said.standsFor}` : 'blank (or “= placebo”, “= none”, “= not stated”)'
  return HINTS[form]
}

const columns: KindColumns<Cluster, TupleSaid> = {
  kind: 'tuple',
  of: 'clusters',
  order: 10,
  columns: ORDER.map((slot) => ({
    key: slot,
    title: ELEMENTS[slot],
    wide: 2,
    reading: true,
    show: (said) => (slot === 'c' && said.standsFor ? `= ${said.standsFor}` : said[slot]),
    put: (said, text) => putCell(said, slot, text),
    hint: (said) => hint(said, slot),
  })),
  begin: (cluster) => ({ ...typedOf(cluster.tuple.slots), target: targetOf(cluster) }),
  follow: (said, cluster) => ({ ...said, target: targetOf(cluster) }),
  state: (cluster) => cluster.tuple,
  hasCurrentValue: (cluster) => cluster.tuple.origin !== null,
  origin: (cluster) => cluster.tuple.origin,
  same: (a, b) => ORDER.every((s) => a[s] === b[s]) && a.standsFor === b.standsFor,
  lacks,
  value: toValue,
  words: (said) => ORDER.map((s) => `${s.toUpperCase()} ${said[s] || 'blank'}`).join(' · '),
  marks: (said, claim) => (claim.position ? [] : underlined(typedMarks(claim.text, said))),
  columnOf: (path) => ORDER.find((s) => path.split('.').includes(s)) ?? 'i',
  newRow,
}
export default columns
