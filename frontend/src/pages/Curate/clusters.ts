/** Clusters on the curate page: current values, unsaved changes and conflicts. Pure functions. */

import type { Schemas } from '../../api/client.ts'
import { begin, renew, type Column, type Facts, type State } from '../../grid/model.ts'
import type { AnyColumns, Claim, Cluster } from '../../kinds/columns.ts'
import type { AllColumns } from '../../kinds/index.ts'
import { ORIGINS } from '../../components/texts/corpus.ts'
import { basisOf, changesOf, columnsOf, follow, keyOf, type Basis, type Change, type Row } from './rows.ts'

export type ClaimRow = Row<Claim>
export type HeadRow = Row<Cluster>

/** One cluster in two grids: one row for the cluster, and one per proposition. */
export interface ClusterState {
  readonly cluster: Cluster
  readonly head: State<HeadRow>
  readonly claims: State<ClaimRow>
}

/** Unsaved values by unit and kind, with the revision they are based on. */
export type Edits = Readonly<Record<string, { said: object; basis: Basis }>>

/** A cell that another curator has changed since it was shown, with both versions. */
export interface Conflict {
  readonly key: string
  readonly where: string
  readonly mine: string
  readonly theirs: string
}

export function placeOf(claim: { position: number }): string {
  return claim.position ? `Input ${claim.position}` : 'Target'
}

/** The columns of all kinds, fixed while the page is open. */
export class Clusters {
  readonly headFacts: Facts<HeadRow>
  readonly claimFacts: Facts<ClaimRow>

  constructor(readonly columns: AllColumns) {
    this.headFacts = { columns: columnsOf(columns.ofClusters) }
    const claims: Column<ClaimRow>[] = [
      { key: 'study', title: 'Study', wide: '6.75rem', show: ({ unit }) => unit.study?.pmid ?? 'target' },
      { key: 'text', title: 'Text', wide: 6, show: ({ unit }) => unit.text },
      ...columnsOf(columns.ofClaims),
      { key: 'from', title: 'From', wide: '6rem', show: ({ unit }) => this.fromWhere(unit) },
    ]
    this.claimFacts = { columns: claims }
  }

  /** Origins of the current values of a proposition, in words. */
  private fromWhere(claim: Claim): string {
    const origins = this.columns.ofClaims.map((c) => c.origin(claim)).filter((o) => o !== null)
    return [...new Set(origins.map((o) => ORIGINS[o])), this.isStale(claim) ? 'needs review' : ''].filter(Boolean).join(', ')
  }

  isStale(claim: Claim): boolean {
    return this.columns.ofClaims.some((c) => c.state(claim).is_stale)
  }

  isHeadStale(cluster: Cluster): boolean {
    return this.columns.ofClusters.some((c) => c.state(cluster).is_stale)
  }

  /** A cluster reloaded from the server, with its unsaved changes. */
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

  /** The cluster with the cells of its own row that follow from its propositions. */
  beside(state: ClusterState): ClusterState {
    const { ofClusters } = this.columns
    const claims = state.claims.rows.map((r) => r.said)
    const row = state.head.rows[0]!
    const said = Object.fromEntries(ofClusters.map((c) => [c.kind, (c.beside?.(row.said[c.kind], claims) ?? row.said[c.kind]) as object]))
    if (ofClusters.every((c) => said[c.kind] === row.said[c.kind])) return state
    return { ...state, head: { ...state.head, rows: [{ ...row, said }] } }
  }

  /** Differences from the current values. */
  changes({ cluster, head, claims }: ClusterState): Change[] {
    return [
      ...changesOf(head.rows[0]!, this.columns.ofClusters, cluster.unit_name),
      ...claims.rows.flatMap((row) => changesOf(row, this.columns.ofClaims, `${cluster.unit_name}, ${placeOf(row.unit).toLowerCase()}`)),
    ]
  }

  /** Unsaved changes of values that another curator has changed since. */
  conflicts(state: ClusterState, edits: Edits): Conflict[] {
    return this.changes(state).flatMap((change) => {
      const began = edits[change.key]?.basis
      const { basis, words } = this.currentBasis(state, change)
      if (!began || (began.seen === basis.seen && began.shown === basis.shown)) return []
      return [{ key: change.key, where: change.where, mine: change.words, theirs: words }]
    })
  }

  /** The revision of the current value that a change applies to. */
  currentBasis(state: ClusterState, change: Change): { basis: Basis; words: string } {
    const of = <U>(unit: U, columns: readonly AnyColumns<U>[]) => {
      const how = columns.find((c) => c.kind === change.kind)!
      return { basis: basisOf(unit, columns, change.kind), words: how.words(how.begin(unit)) }
    }
    if (state.cluster.unit === change.unit) return of(state.cluster, this.columns.ofClusters)
    return of(state.claims.rows.find((r) => r.unit.unit === change.unit)!.unit, this.columns.ofClaims)
  }
}
