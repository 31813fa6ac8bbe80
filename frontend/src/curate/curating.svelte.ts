/** One review on the curate page: what is in force, what is changed and not saved, and saving it. The page draws it. */

import { api, data, Problem, Unauthenticated, type Schemas } from '../api/client.ts'
import { begin as beginGrid, renew, type Column, type Facts, type State } from '../grid/model.ts'
import { ofClaims, ofClusters, type AnyCells, type Claim, type Cluster } from '../kinds/cells.ts'
import { say } from '../parts/say.ts'
import { newUuid } from '../work/outbox.ts'
import { keep, loadKept, nothingKept, type Kept } from './kept.ts'
import { basisOf, changesOf, columnsOf, follow, keyOf, refusals, type Change, type Refusal, type Row } from './rows.ts'
import type { NewCluster, NewInput, Typed } from './staging.ts'

export type Review = Omit<Schemas['Curation'], 'clusters'>
export type ClaimRow = Row<Claim>
export type HeadRow = Row<Cluster>

export interface Desk {
  readonly cluster: Cluster
  readonly head: State<HeadRow>
  readonly claims: State<ClaimRow>
}

/** A cell that somebody else has changed since it was shown: both versions, to choose from. */
export interface Conflict {
  readonly key: string
  readonly where: string
  readonly mine: string
  readonly theirs: string
}

/** Rows go to the server in batches of at most so many. */
const AT_ONCE = 500
const REASON = 'concord.curate.reason'

export function placeOf(claim: { position: number }): string {
  return claim.position ? `Input ${claim.position}` : 'Target'
}

export class Curating {
  review = $state.raw<Review | null>(null)
  desks = $state.raw<readonly Desk[]>([])
  refused = $state.raw<Record<string, Refusal>>({})
  conflicts = $state.raw<readonly Conflict[]>([])
  staged = $state.raw<Record<string, Typed[]>>({})
  reason = $state(sessionStorage.getItem(REASON) ?? '')
  reasonWanted = $state(false)
  busy = $state(false)
  wrong = $state('')
  done = $state('')
  /** The browser keeps nothing: what is not saved would be lost with the page. */
  keepsNothing = $state(false)
  /** Notes on their way into the browser's data base: while there are none, a reload loses nothing. */
  noting = $state(0)
  loadFailed = $state('')
  /** Where to go on after something was made: the row of a cluster that has just come. */
  goOn = $state.raw<{ cluster: number; row: number } | null>(null)
  readonly changes = $derived(this.desks.flatMap(changesOfDesk))
  readonly unsaved = $derived(this.changes.length)

  private kept: Kept = nothingKept()
  private writing: Promise<unknown> = Promise.resolve()

  constructor(readonly id: number, private readonly user: number) {}

  async start(): Promise<void> {
    this.kept = await loadKept(this.user, this.id)
    this.staged = this.kept.staged
    await this.load()
  }

  async load(): Promise<void> {
    try {
      const [review, clusters] = await this.fetch()
      this.review = review
      this.put(clusters, true)
      this.loadFailed = ''
    } catch (error) {
      this.loadFailed = error instanceof Unauthenticated ? 'You are signed out.' : say(error)
    }
  }

  private async fetch(): Promise<[Review, Cluster[]]> {
    const clusters: Cluster[] = []
    for (;;) {
      const { clusters: some, ...review } = await data(
        api.GET('/api/v1/reviews/{review_id}/curation/', { params: { path: { review_id: this.id }, query: { offset: clusters.length, limit: 100 } } }),
      )
      clusters.push(...some)
      if (!some.length || clusters.length >= review.clusters_count) return [review, clusters]
    }
  }

  /** Clusters as they are on the server now. What is changed and not saved stays; where both changed, the person chooses. */
  private put(clusters: readonly Cluster[], all: boolean): void {
    const was = new Map(this.desks.map((d) => [d.cluster.id, d]))
    const came = new Map(clusters.map((c) => [c.id, this.renewed(was.get(c.id), c)]))
    const stay = all ? [] : this.desks.map((d) => came.get(d.cluster.id) ?? d)
    this.desks = [...stay, ...[...came.values()].filter((d) => !stay.includes(d))]
    this.conflicts = this.desks.flatMap((d) => this.conflictsOf(d))
    const now = new Set(this.changes.map((c) => c.key))
    this.refused = Object.fromEntries(Object.entries(this.refused).filter(([key]) => now.has(key)))
    this.note()
  }

  private renewed(was: Desk | undefined, cluster: Cluster): Desk {
    const mine = <U extends { unit: number }>(unit: U, cells: readonly AnyCells<U>[]): Record<string, object> =>
      Object.fromEntries(cells.flatMap((c) => {
        const edit = this.kept.edits[keyOf(unit.unit, c.kind)]
        return edit ? [[c.kind, edit.said]] : []
      }))
    const head = [follow(cluster, ofClusters, mine(cluster, ofClusters))]
    const claims = cluster.propositions.map((p) => follow(p, ofClaims, mine(p, ofClaims)))
    return beside({
      cluster,
      head: was ? renew(headFacts, was.head, head) : beginGrid(head),
      claims: was ? renew(claimFacts, was.claims, claims) : beginGrid(claims),
    })
  }

  private conflictsOf(desk: Desk): Conflict[] {
    const of = <U extends { unit: number }>(row: Row<U>, cells: readonly AnyCells<U>[], place: string) =>
      changesOf(row, cells, place).flatMap((change) => {
        const began = this.kept.edits[change.key]?.basis
        const now = basisOf(row.unit, cells, change.kind)
        if (!began || (began.seen === now.seen && began.shown === now.shown)) return []
        const how = cells.find((c) => c.kind === change.kind)!
        return [{ key: change.key, where: change.where, mine: change.words, theirs: how.words(how.begin(row.unit)) }]
      })
    const { cluster } = desk
    return [
      ...of(desk.head.rows[0]!, ofClusters, cluster.key),
      ...desk.claims.rows.flatMap((row) => of(row, ofClaims, `${cluster.key}, ${placeOf(row.unit).toLowerCase()}`)),
    ]
  }

  // ---- what the person does ----

  setHead(cluster: number, head: State<HeadRow>): void {
    this.desks = this.desks.map((d) => (d.cluster.id === cluster ? { ...d, head } : d))
    this.changed()
  }

  setClaims(cluster: number, claims: State<ClaimRow>): void {
    this.desks = this.desks.map((d) => (d.cluster.id === cluster ? beside({ ...d, claims }) : d))
    this.changed()
  }

  setStaged(where: string, rows: Typed[] | null): void {
    const { [where]: _, ...others } = this.staged
    this.staged = rows?.length ? { ...others, [where]: rows } : others
    this.note()
  }

  private changed(): void {
    this.done = ''
    this.note()
  }

  /** What is not saved, into the browser's data base; each edit with what was in force when it was begun. */
  private note(): void {
    const edits: Kept['edits'] = {}
    for (const change of this.changes) {
      const began = this.kept.edits[change.key]?.basis ?? this.basisNow(change)
      // A copy of plain data: what is drawn is not what is kept.
      edits[change.key] = { said: change.said, basis: began }
      // Another value than the one that was refused: the refusal no longer speaks of it.
      if (this.refused[change.key] && this.kept.edits[change.key]?.said !== change.said) {
        const { [change.key]: _, ...others } = this.refused
        this.refused = others
      }
    }
    this.kept = { edits, staged: this.staged, sent: this.kept.sent }
    const kept = $state.snapshot(this.kept) as Kept
    this.noting++
    this.writing = this.writing.then(() => keep(this.user, this.id, kept)).then(
      () => (this.keepsNothing = false),
      () => (this.keepsNothing = true),
    ).finally(() => this.noting--)
  }

  private basisNow(change: Change): { shown: number; seen: number } {
    for (const d of this.desks) {
      if (d.cluster.unit === change.unit) return basisOf(d.cluster, ofClusters, change.kind)
      const row = d.claims.rows.find((r) => r.unit.unit === change.unit)
      if (row) return basisOf(row.unit, ofClaims, change.kind)
    }
    throw new Error('A change of nothing that is on the page.')
  }

  /** Of two versions the person's own is kept: it is sent as said in the knowledge of the other. */
  keepMine(key: string): void {
    const change = this.changes.find((c) => c.key === key)
    if (change) this.kept.edits[key] = { said: change.said, basis: this.basisNow(change) }
    this.conflicts = this.conflicts.filter((c) => c.key !== key)
    this.note()
  }

  /** Lets go of one change: the value in force is what stands again. */
  letGo(key: string): void {
    const edits = { ...this.kept.edits }
    delete edits[key]
    this.kept = { ...this.kept, edits }
    this.put(this.desks.map((d) => d.cluster), true)
  }

  /** Sends what is complete, all or nothing. True where everything that was sent is in force. */
  async save(): Promise<boolean> {
    if (this.busy) return false
    this.wrong = ''
    this.done = ''
    const disputed = new Set(this.conflicts.map((c) => c.key))
    const ready = this.changes.filter((c) => !c.lacks && !disputed.has(c.key)).slice(0, AT_ONCE)
    this.reasonWanted = ready.some((c) => c.replaces) && !this.reason.trim()
    if (this.reasonWanted) return false
    if (!ready.length) {
      this.wrong = this.unsaved ? 'Nothing can be saved yet: what is changed is not complete, or also changed by somebody else.' : ''
      return false
    }
    sessionStorage.setItem(REASON, this.reason)
    const rows = ready.map((c) => ({ unit: c.unit, kind: c.kind as Schemas['CellRowRequest']['kind'], value: c.value(), ...this.kept.edits[c.key]!.basis }))
    return this.send(ready, async () => {
      const body = this.named({ reason: ready.some((c) => c.replaces) ? this.reason.trim() : '', rows })
      const done = await data(api.POST('/api/v1/reviews/{review_id}/corrections/', { params: { path: { review_id: this.id } }, body }))
      for (const change of ready) delete this.kept.edits[change.key]
      this.kept.sent = {}
      this.put(done.clusters, false)
      this.done = `${ready.length} ${ready.length === 1 ? 'change' : 'changes'} saved.`
    })
  }

  /** New clusters, or inputs for one that is there. Problems of the server go to who asked, who knows the rows. */
  async add(where: string, rows: NewCluster[] | NewInput[]): Promise<void> {
    const done = where === 'clusters'
      ? await data(api.POST('/api/v1/reviews/{review_id}/clusters/', { params: { path: { review_id: this.id } }, body: this.named({ reason: '', rows: rows as NewCluster[] }) }))
      : await data(api.POST('/api/v1/clusters/{cluster_id}/propositions/', { params: { path: { cluster_id: Number(where) } }, body: this.named({ reason: '', rows: rows as NewInput[] }) }))
    this.kept.sent = {}
    const before = this.desks.find((d) => String(d.cluster.id) === where)?.claims.rows.length ?? 0
    this.setStaged(where, null)
    this.put(done.clusters, false)
    const first = done.clusters[0]
    if (first) this.goOn = { cluster: first.id, row: before }
  }

  /** Target sentences, a paragraph each. */
  async addSentences(texts: readonly string[]): Promise<void> {
    const rows = texts.map((text) => ({ text, inputs: [] }))
    await data(api.POST('/api/v1/reviews/{review_id}/sentences/', { params: { path: { review_id: this.id } }, body: this.named({ reason: '', rows }) }))
    this.kept.sent = {}
    await this.load()
  }

  /** The write with its identifier: the one that it had before, where exactly this was sent and its reply may be lost. */
  private named<T extends object>(body: T): T & { uuid: string } {
    const what = JSON.stringify(body)
    const uuid = this.kept.sent[what] ?? newUuid()
    this.kept.sent = { [what]: uuid }
    this.note()
    return { ...body, uuid }
  }

  private async send(sent: readonly Change[], work: () => Promise<void>): Promise<boolean> {
    this.busy = true
    this.refused = {}
    try {
      await work()
      return true
    } catch (error) {
      if (error instanceof Unauthenticated) this.wrong = 'You are signed out. Sign in and save again: nothing is lost.'
      else if (error instanceof Problem && error.status === 409) {
        await this.load()
        this.wrong = this.conflicts.length ? 'Somebody else has changed the same cells. Nothing was saved: compare the two.' : error.detail
      } else {
        this.wrong = say(error)
        if (error instanceof Problem) this.refused = refusals(error.errors, sent)
        if (error instanceof Problem && error.of('reason')) this.reasonWanted = true
      }
      return false
    } finally {
      this.busy = false
    }
  }
}

/** The desk with what its propositions, as they are typed, make of the cells of the whole cluster. */
function beside(desk: Desk): Desk {
  const claims = desk.claims.rows.map((r) => r.said)
  const row = desk.head.rows[0]!
  const said = Object.fromEntries(ofClusters.map((c) => [c.kind, (c.beside?.(row.said[c.kind], claims) ?? row.said[c.kind]) as object]))
  if (ofClusters.every((c) => said[c.kind] === row.said[c.kind])) return desk
  return { ...desk, head: { ...desk.head, rows: [{ ...row, said }] } }
}

function changesOfDesk({ cluster, head, claims }: Desk): Change[] {
  return [
    ...changesOf(head.rows[0]!, ofClusters, cluster.key),
    ...claims.rows.flatMap((row) => changesOf(row, ofClaims, `${cluster.key}, ${placeOf(row.unit).toLowerCase()}`)),
  ]
}

const ORIGIN = { imported: 'file', single: 'round', unanimous: 'round', 'by majority': 'round', 'decided by a curator': 'adjudicated', contested: 'contested', curated: 'by hand' }

/** Where the label in force comes from, in a word or two. */
function fromWhere({ label }: Claim): string {
  const gold = label.polarity ?? label.modality
  if (!gold) return label.is_stale ? 'look again' : ''
  const word = (ORIGIN as Record<string, string>)[gold.origin] ?? gold.origin
  return label.is_stale ? `${word}, look again` : word
}

const claimColumns: Column<ClaimRow>[] = [
  { key: 'study', title: 'Study', wide: '6.25rem', show: ({ unit }) => unit.study?.pmid ?? 'target' },
  { key: 'text', title: 'Text', wide: 4, show: ({ unit }) => unit.text },
  ...columnsOf(ofClaims),
  { key: 'from', title: 'From', wide: '5.5rem', show: ({ unit }) => fromWhere(unit) },
]
/** The columns never change; whether single letters act is a preference of the person. */
export const headFacts: Facts<HeadRow> = { columns: columnsOf(ofClusters) }
export const claimFacts: Facts<ClaimRow> = { columns: claimColumns }
