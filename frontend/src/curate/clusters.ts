/** Clusters on the curate page: what is in force in their rows, what is changed and not saved, and what others changed. Pure. */

import type { Schemas } from '../api/client.ts'
import { begin, renew, type Column, type Facts, type State } from '../grid/model.ts'
import type { AnyColumns, Claim, Cluster } from '../kinds/columns.ts'
import type { AllColumns } from '../kinds/index.ts'
import { basisOf, changesOf, columnsOf, follow, keyOf, type Basis, type Change, type Row } from './rows.ts'

export type ClaimRow = Row<Claim>
export type HeadRow = Row<Cluster>

/** One cluster in two grids: a row for itself, and one for each of its propositions. */
export interface ClusterState {
  readonly cluster: Cluster
  readonly head: State<HeadRow>
  readonly claims: State<ClaimRow>
}

/** Working values that are not saved, by unit and kind, with what was in force when they were begun. */
export type Edits = Readonly<Record<string, { said: object; basis: Basis }>>

/** A cell that somebody else has changed since it was shown: both versions, to choose from. */
export interface Conflict {
  readonly key: string
  readonly where: string
  readonly mine: string
  readonly theirs: string
}

export function placeOf(claim: { position: number }): string {
  return claim.position ? `Input ${claim.position}` : 'Target'
}

const ORIGIN: Record<Schemas['OriginEnum'], string> = {
  imported: 'file', single: 'round', unanimous: 'round', 'by majority': 'round', 'decided by a curator': 'adjudicated', contested: 'contested', reopened: 'reopened',
}

/** The columns of every kind, and what follows from them. They never change while the page is open. */
export class Clusters {
  readonly headFacts: Facts<HeadRow>
  readonly claimFacts: Facts<ClaimRow>

  constructor(readonly columns: AllColumns) {
    this.headFacts = { columns: columnsOf(columns.ofClusters) }
    const claims: Column<ClaimRow>[] = [
      { key: 'study', title: 'Study', wide: '6.75rem', show: ({ unit }) => unit.study?.pmid ?? 'target' },
      { key: 'text', title: 'Text', wide: 6, show: ({ unit }) => unit.text },
      ...columnsOf(columns.ofClaims),
      { key: 'from', title: 'From', wide: '4.5rem', show: ({ unit }) => this.fromWhere(unit) },
    ]
    this.claimFacts = { columns: claims }
  }

  /** Where the values in force of a proposition come from, in a word or two. */
  private fromWhere(claim: Claim): string {
    const origins = this.columns.ofClaims.map((c) => c.origin(claim)).filter((o) => o !== null)
    return [...new Set(origins.map((o) => ORIGIN[o])), this.isStale(claim) ? 'needs review' : ''].filter(Boolean).join(', ')
  }

  isStale(claim: Claim): boolean {
    return this.columns.ofClaims.some((c) => c.state(claim).is_stale)
  }

  isHeadStale(cluster: Cluster): boolean {
    return this.columns.ofClusters.some((c) => c.state(cluster).is_stale)
  }

  /** A cluster that came anew. What is changed and not saved stays. */
  renewed(was: ClusterState | undefined, cluster: Cluster, edits: Edits): ClusterState {
    const mine = <U extends { unit: number }>(unit: U, columns: readonly AnyColumns<U>[]): Record<string, object> =>
      Object.fromEntries(columns.flatMap((c) => {
        const edit = edits[keyOf(unit.unit, c.kind)]
        return edit ? [[c.kind, edit.said]] : []
      }))
    const { ofClusters, ofClaims } = this.columns
    const head = [follow(cluster, ofClusters, mine(cluster, ofClusters))]
    const claims = cluster.propositions.map((p) => follow(p, ofClaims, mine(p, ofClaims)))
    return this.beside({
      cluster,
      head: was ? renew(this.headFacts, was.head, head) : begin(head),
      claims: was ? renew(this.claimFacts, was.claims, claims) : begin(claims),
    })
  }

  /** The cluster with what its propositions, as they are typed, make of the cells of the whole. */
  beside(state: ClusterState): ClusterState {
    const { ofClusters } = this.columns
    const claims = state.claims.rows.map((r) => r.said)
    const row = state.head.rows[0]!
    const said = Object.fromEntries(ofClusters.map((c) => [c.kind, (c.beside?.(row.said[c.kind], claims) ?? row.said[c.kind]) as object]))
    if (ofClusters.every((c) => said[c.kind] === row.said[c.kind])) return state
    return { ...state, head: { ...state.head, rows: [{ ...row, said }] } }
  }

  /** What differs from what is in force. */
  changes({ cluster, head, claims }: ClusterState): Change[] {
    return [
      ...changesOf(head.rows[0]!, this.columns.ofClusters, cluster.key),
      ...claims.rows.flatMap((row) => changesOf(row, this.columns.ofClaims, `${cluster.key}, ${placeOf(row.unit).toLowerCase()}`)),
    ]
  }

  /** Changes of what somebody else has changed, too, since they were begun. */
  conflicts(state: ClusterState, edits: Edits): Conflict[] {
    return this.changes(state).flatMap((change) => {
      const began = edits[change.key]?.basis
      const { basis, words } = this.inForce(state, change)
      if (!began || (began.seen === basis.seen && began.shown === basis.shown)) return []
      return [{ key: change.key, where: change.where, mine: change.words, theirs: words }]
    })
  }

  /** What is in force where something is changed. */
  inForce(state: ClusterState, change: Change): { basis: Basis; words: string } {
    const of = <U>(unit: U, columns: readonly AnyColumns<U>[]) => {
      const how = columns.find((c) => c.kind === change.kind)!
      return { basis: basisOf(unit, columns, change.kind), words: how.words(how.begin(unit)) }
    }
    if (state.cluster.unit === change.unit) return of(state.cluster, this.columns.ofClusters)
    return of(state.claims.rows.find((r) => r.unit.unit === change.unit)!.unit, this.columns.ofClaims)
  }
}
