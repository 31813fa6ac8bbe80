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

function putCell(said: TupleSaid, element: ElementKey, text: string): TupleSaid | string {
  const means = element === 'c' ? standsForOf(text) : undefined
  if (/^=/.test(text) && element === 'c' && means === undefined) return 'Enter a blank comparator as “= placebo”, “= none” or “= not stated”.'
  if (text && !text.trim()) return 'Only spaces. Leave a blank element empty.'
  if (element === 'c') return { ...said, c: means === undefined ? text.trim() : '', standsFor: means ?? '' }
  return { ...said, [element]: text.trim() }
}

function hint(said: TupleSaid, element: ElementKey): string {
  const { form } = formOf(said[element], said.target)
  if (element === 'c' && form === 'blank') return said.standsFor ? `blank: ${said.standsFor}` : 'blank (or “= placebo”, “= none”, “= not stated”)'
  return HINTS[form]
}

const columns: KindColumns<Cluster, TupleSaid> = {
  kind: 'tuple',
  of: 'clusters',
  order: 10,
  columns: ORDER.map((element) => ({
    key: element,
    title: ELEMENTS[element],
    wide: 2,
    reading: true,
    show: (said) => (element === 'c' && said.standsFor ? `= ${said.standsFor}` : said[element]),
    put: (said, text) => putCell(said, element, text),
    hint: (said) => hint(said, element),
  })),
  begin: (cluster) => ({ ...typedOf(cluster.tuple.elements), target: targetOf(cluster) }),
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
