/** What a kind puts on the curate page: its columns of a unit's row, and how a typed row becomes part of a new unit. */

import type { Schemas } from '../api/client.ts'
import type { Column } from '../grid/model.ts'
import type { Mark } from '../text/segments.ts'
import type { Card, Value } from './kind.ts'

export type Claim = Schemas['CuratedProposition']
export type Cluster = Schemas['CuratedCluster']

/** Who has given the value in force of a cell, and what to send back with another one. */
export interface CellState {
  readonly shown: number
  readonly seen: number
  readonly is_stale: boolean
  readonly decided_by: string | null
}

/**
 * The columns of one kind for units `U`. `W` is a value that may still be incomplete: plain data, for it is kept in the
 * browser's data base, with whatever of the unit its columns must know.
 */
export interface KindColumns<U, W extends object> {
  readonly kind: string
  readonly of: U extends Cluster ? 'clusters' : 'propositions'
  /** Where they stand among the columns of the other kinds. */
  readonly order: number
  /** Their keys are no other kind's. */
  readonly columns: readonly Column<W>[]
  /** The value in force. */
  begin: (unit: U) => W
  /** The same unit has come anew, with another text or other values beside it: what the columns must know of it. */
  follow: (w: W, unit: U) => W
  /** What the working values beside it, saved or not, make of it: for a cluster, those of its propositions in order. */
  beside?: (w: W, claims: readonly Readonly<Record<string, object>>[]) => W
  state: (unit: U) => CellState
  /** Whether there is a value in force: another one in its place needs a reason. */
  inForce: (unit: U) => boolean
  /** Where the value in force comes from; null where there is none. */
  origin: (unit: U) => Schemas['OriginEnum'] | null
  same: (a: W, b: W) => boolean
  /** In words what must still be said before it can be sent; empty where nothing. */
  lacks: (w: W) => string
  /** As it is sent. */
  value: (w: W) => unknown
  words: (w: W) => string
  /** What it draws on the text of a proposition. */
  marks?: (w: W, claim: Claim) => Mark[]
  /** Which column a fault of the server belongs to, by the path inside the value. */
  columnOf: (path: string) => string
  /** The editor of the kind, for columns that `open`. */
  editor?: {
    /** Of which units it is opened; of all where left out. */
    of?: (unit: U) => boolean
    /** What is shown; asked of the server where the page does not hold it. */
    card: (unit: U, cluster: Cluster, w: W) => Card | Promise<Card>
    take: (w: W, value: Value) => W
  }
  readonly newRow?: NewRow
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- each kind has its own working value.
export type AnyColumns<U = any> = KindColumns<U, any>

/** A column of rows that are to become units. */
export interface NewField {
  readonly key: string
  readonly title: string
  /** Other names by which spreadsheets call it, in lower case. */
  readonly also?: readonly string[]
  /** Keys that give a value at once, in lower case. */
  readonly keys?: Readonly<Record<string, string>>
}

/** What of a typed or pasted row is the kind's. */
export interface NewRow {
  /** Its columns, before or after the text of the row. */
  readonly fields: readonly NewField[]
  readonly before: boolean
  /** What the request calls the value. */
  readonly property: string
  /** The value as it is sent, or null where the row says nothing of it; what is wrong goes to `fault`, by field. */
  read: (row: Readonly<Record<string, string>>, fault: (field: string, why: string) => void) => unknown
  /** Of a cluster's kind: what is wrong where an input's row says something else than its target's; "" where it may. */
  readonly another?: string
}
