/** What the kinds put on the curate page: each its cells of a unit's row. A kind that is added here needs nothing in the page. */

import type { Schemas } from '../api/client.ts'
import type { Column } from '../grid/model.ts'
import { discourseCells } from './discourse/cells.ts'
import type { Card, Kind, Value } from './index.ts'
import { labelCells } from './label/cells.ts'
import { tupleCells } from './tuple/cells.ts'

export type Claim = Schemas['CuratedProposition']
export type Cluster = Schemas['CuratedCluster']
export type Relation = Schemas['RelationEnum']

/** Who has given the value in force of a cell, and what to send back with another one. */
export interface CellState {
  readonly shown: number
  readonly seen: number
  readonly is_stale: boolean
  readonly decided_by: string | null
}

/**
 * The cells of one kind for units `U`. `W` is a value that may still be incomplete: plain data, for it is kept in the
 * browser's data base, with whatever of the unit its columns must know.
 */
export interface Cells<U, W extends object> {
  readonly kind: string
  readonly columns: readonly Column<W>[]
  /** The value in force. */
  begin: (unit: U) => W
  /** The same unit has come anew, with another text or other labels beside it: what the columns must know of it. */
  follow: (w: W, unit: U) => W
  /** What the working values beside it, saved or not, make of it: for a cluster, those of its propositions in order. */
  beside?: (w: W, claims: readonly Readonly<Record<string, object>>[]) => W
  state: (unit: U) => CellState
  /** Whether there is a value in force: another one in its place needs a reason. */
  inForce: (unit: U) => boolean
  same: (a: W, b: W) => boolean
  /** In words what must still be said before it can be sent; empty where nothing. */
  lacks: (w: W) => string
  /** As it is sent. */
  value: (w: W) => unknown
  words: (w: W) => string
  /** Which column a fault of the server belongs to, by the path inside the value. */
  columnOf: (path: string) => string
  /** The component that answers the kind on the Work page, for columns that `open`. */
  desk?: {
    readonly kind: Kind
    card: (unit: U, cluster: Cluster, w: W) => Card
    take: (w: W, value: Value) => W
  }
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- each kind has its own working value.
export type AnyCells<U> = Cells<U, any>

export const ofClaims: readonly AnyCells<Claim>[] = [labelCells]
export const ofClusters: readonly AnyCells<Cluster>[] = [tupleCells, discourseCells]
