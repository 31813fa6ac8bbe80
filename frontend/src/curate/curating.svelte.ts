/** One review on the curate page: its clusters, what is not saved of them, and saving it. The page draws it. */

import { api, data, Problem, Unauthenticated, type Schemas } from '../api/client.ts'
import type { State } from '../grid/model.ts'
import type { Cluster } from '../kinds/columns.ts'
import { loadColumns } from '../kinds/index.ts'
import { errorMessage } from '../parts/errorMessage.ts'
import { newUuid } from '../work/outbox.ts'
import { Clusters, type ClaimRow, type ClusterState, type Conflict, type HeadRow } from './clusters.ts'
import { keep, loadUnsaved, nothingUnsaved, type Unsaved } from './unsaved.ts'
import { refusals, type Change, type Refusal } from './rows.ts'
import type { NewCluster, NewInput, Typed } from './newRows.ts'

export type Review = Omit<Schemas['Curation'], 'clusters'>

/** Rows go to the server in batches of at most so many. */
const AT_ONCE = 500
const REASON = 'concord.curate.reason'

export class Curating {
  review = $state.raw<Review | null>(null)
  clusters = $state.raw<readonly ClusterState[]>([])
  /** What the kinds have in the rows; null until the page has begun. */
  how = $state.raw<Clusters | null>(null)
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
  readonly changes = $derived(this.clusters.flatMap((c) => this.how!.changes(c)))
  readonly unsaved = $derived(this.changes.length)

  private kept: Unsaved = nothingUnsaved()
  private writing: Promise<unknown> = Promise.resolve()

  constructor(readonly id: number, private readonly user: number) {}

  async start(): Promise<void> {
    const [columns, kept] = await Promise.all([loadColumns(), loadUnsaved(this.user, this.id)])
    this.how = new Clusters(columns)
    this.kept = kept
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
      this.loadFailed = error instanceof Unauthenticated ? 'You are signed out.' : errorMessage(error)
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
    const was = new Map(this.clusters.map((d) => [d.cluster.id, d]))
    const came = new Map(clusters.map((c) => [c.id, this.how!.renewed(was.get(c.id), c, this.kept.edits)]))
    const stay = all ? [] : this.clusters.map((d) => came.get(d.cluster.id) ?? d)
    this.clusters = [...stay, ...[...came.values()].filter((d) => !stay.includes(d))]
    this.conflicts = this.clusters.flatMap((c) => this.how!.conflicts(c, this.kept.edits))
    const now = new Set(this.changes.map((c) => c.key))
    this.refused = Object.fromEntries(Object.entries(this.refused).filter(([key]) => now.has(key)))
    this.note()
  }

  // ---- what the person does ----

  setHead(cluster: number, head: State<HeadRow>): void {
    this.clusters = this.clusters.map((d) => (d.cluster.id === cluster ? { ...d, head } : d))
    this.changed()
  }

  setClaims(cluster: number, claims: State<ClaimRow>): void {
    this.clusters = this.clusters.map((d) => (d.cluster.id === cluster ? this.how!.beside({ ...d, claims }) : d))
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
    const edits: Unsaved['edits'] = {}
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
    const kept = $state.snapshot(this.kept) as Unsaved
    this.noting++
    this.writing = this.writing.then(() => keep(this.user, this.id, kept)).then(
      () => (this.keepsNothing = false),
      () => (this.keepsNothing = true),
    ).finally(() => this.noting--)
  }

  private basisNow(change: Change): { shown: number; seen: number } {
    const of = this.clusters.find((c) => c.cluster.unit === change.unit || c.claims.rows.some((r) => r.unit.unit === change.unit))
    return this.how!.inForce(of!, change).basis
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
    this.put(this.clusters.map((d) => d.cluster), true)
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
    const before = this.clusters.find((d) => String(d.cluster.id) === where)?.claims.rows.length ?? 0
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
        this.wrong = errorMessage(error)
        if (error instanceof Problem) this.refused = refusals(error.errors, sent)
        if (error instanceof Problem && error.of('reason')) this.reasonWanted = true
      }
      return false
    } finally {
      this.busy = false
    }
  }
}
