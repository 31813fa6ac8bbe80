/** A kind's part of the curate page: columns of existing units, and fields of new rows. */

import type { Schemas } from '../api/client.ts'
import type { Column } from '../grid/model.ts'
import type { Mark } from '../text/segments.ts'
import type { Card, Value } from './kind.ts'

export type Claim = Schemas['CuratedProposition']
export type Cluster = Schemas['CuratedCluster']

/** Origin of a cell's current value, and the revision to send with a change. */
export interface CellState {
  readonly shown: number
  readonly seen: number
  readonly is_stale: boolean
  readonly decided_by: string | null
}

/**
 * The columns of one kind for units `U`. `W` is a working value, possibly incomplete: plain data, because it is stored in
 * the browser's database, with the parts of the unit that its columns need.
 */
export interface KindColumns<U, W extends object> {
  readonly kind: string
  readonly of: U extends Cluster ? 'clusters' : 'propositions'
  /** Position among the kinds. */
  readonly order: number
  /** The columns; no other kind has their keys. */
  readonly columns: readonly Column<W>[]
  /** The current value. */
  begin: (unit: U) => W
  /** Update a working value after its unit was reloaded with another text or other values. */
  follow: (w: W, unit: U) => W
  /** Update a cluster's working value from those of its propositions, in order. */
  beside?: (w: W, claims: readonly Readonly<Record<string, object>>[]) => W
  state: (unit: U) => CellState
  /** Whether there is a current value; replacing one needs a reason. */
  hasCurrentValue: (unit: U) => boolean
  /** Origin of the current value, or null. */
  origin: (unit: U) => Schemas['OriginEnum'] | null
  same: (a: W, b: W) => boolean
  /** The missing parts in words; empty if the value is complete. */
  lacks: (w: W) => string
  /** The value to send. */
  value: (w: W) => unknown
  words: (w: W) => string
  /** Marks on the text of a proposition. */
  marks?: (w: W, claim: Claim) => Mark[]
  /** The column of a server error, by the path inside the value. */
  columnOf: (path: string) => string
  /** The editor of the kind, for columns that `open`. */
  editor?: {
    /** Units that it can open; all by default. */
    of?: (unit: U) => boolean
    /** The card to show, from the server if the page does not have it. */
    card: (unit: U, cluster: Cluster, w: W) => Card | Promise<Card>
    take: (w: W, value: Value) => W
  }
  readonly newRow?: NewRow
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- each kind has its own working value.
export type AnyColumns<U = any> = KindColumns<U, any>

/** A column of new rows. */
export interface NewField {
  readonly key: string
  readonly title: string
  /** Other headings in spreadsheets, in lower case. */
  readonly also?: readonly string[]
  /** Keys that enter a value at once, in lower case. */
  readonly keys?: Readonly<Record<string, string>>
}

/** A kind's part of a typed or pasted row. */
export interface NewRow {
  /** Its columns, before or after the text of the row. */
  readonly fields: readonly NewField[]
  readonly before: boolean
  /** Property of the value in the request. */
  readonly property: string
  /** The value to send, or null if the row has none; errors are reported to `fault` by field. */
  read: (row: Readonly<Record<string, string>>, fault: (field: string, why: string) => void) => unknown
  /** For kinds of clusters: the error if an input's row differs from its target's row; "" if it may. */
  readonly another?: string
}
