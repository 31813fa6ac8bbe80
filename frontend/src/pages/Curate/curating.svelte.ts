/** State of the curate page: the clusters of one review, unsaved changes and saving. */

import { api, data, Problem, Unauthenticated, type Schemas } from '../../api/client.ts'
import type { State } from '../../grid/model.ts'
import type { Cluster } from '../../kinds/columns.ts'
import { loadColumns } from '../../kinds/index.ts'
import { errorMessage } from '../../api/errorMessage.ts'
import { Resource } from '../../api/resource.svelte.ts'
import { newUuid } from '../../work/outbox.ts'
import { Clusters, type ClaimRow, type ClusterState, type Conflict, type HeadRow } from './clusters.ts'
import { keep, loadUnsaved, nothingUnsaved, type Unsaved } from './unsaved.ts'
import { refusals, type Change, type Refusal } from './rows.ts'
import type { NewCluster, NewInput, Typed } from './newRows.ts'

export type Review = Omit<Schemas['Curation'], 'clusters'>

/** Maximum rows per request. */
const AT_ONCE = 500

export class Curating {
  review = $state.raw<Review | null>(null)
  clusters = $state.raw<readonly ClusterState[]>([])
  /** Columns of all kinds; null until they are loaded. */
  how = $state.raw<Clusters | null>(null)
  refused = $state.raw<Record<string, Refusal>>({})
  conflicts = $state.raw<readonly Conflict[]>([])
  staged = $state.raw<Record<string, Typed[]>>({})
  reason = $state('')
  reasonWanted = $state(false)
  isBusy = $state(false)
  error = $state('')
  done = $state('')
  /** The browser does not store drafts: unsaved changes would be lost with the page. */
  keepsNothing = $state(false)
  /** Pending writes of drafts to the browser's database; at 0 a reload loses nothing. */
  noting = $state(0)
  readonly loading = new Resource(async () => {
    const [review, clusters] = await this.fetch()
    this.review = review
    this.put(clusters, true)
    return review
  }, false)
  /** The row that was just added, to be focused. */
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

  load(): Promise<void> {
    return this.loading.load()
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

  /** Take over clusters from the server. Unsaved changes stay; values changed on both sides become conflicts. */
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

  // ---- actions of the person ----

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

  /** Store unsaved changes in the browser's database, each with the revision it is based on. */
  private note(): void {
    const edits: Unsaved['edits'] = {}
    for (const change of this.changes) {
      const began = this.kept.edits[change.key]?.basis ?? this.basisNow(change)
      // A plain copy, because IndexedDB cannot store reactive state.
      edits[change.key] = { said: change.said, basis: began }
      // The value has changed since it was refused, so its refusal no longer applies.
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

  /** Rebase unsaved labels of a cluster after its tuple was saved here, which raises their revision. */
  private acceptOwn(saved: readonly Change[]): void {
    const units = new Set(saved.map((c) => c.unit))
    const own = this.clusters.filter((c) => units.has(c.cluster.unit) || c.claims.rows.some((r) => units.has(r.unit.unit)))
    for (const change of own.flatMap((c) => this.how!.changes(c))) {
      const edit = this.kept.edits[change.key]
      const now = this.basisNow(change)
      if (edit?.basis.seen === now.seen) this.kept.edits[change.key] = { ...edit, basis: now }
    }
    this.conflicts = this.clusters.flatMap((c) => this.how!.conflicts(c, this.kept.edits))
    this.note()
  }

  private basisNow(change: Change): { shown: number; seen: number } {
    const of = this.clusters.find((c) => c.cluster.unit === change.unit || c.claims.rows.some((r) => r.unit.unit === change.unit))
    return this.how!.currentBasis(of!, change).basis
  }

  /** Resolve a conflict with the own version, now based on the other curator's revision. */
  keepMine(key: string): void {
    const change = this.changes.find((c) => c.key === key)
    if (change) this.kept.edits[key] = { said: change.said, basis: this.basisNow(change) }
    this.conflicts = this.conflicts.filter((c) => c.key !== key)
    this.note()
  }

  /** Discard one change; the current value is shown again. */
  letGo(key: string): void {
    const edits = { ...this.kept.edits }
    delete edits[key]
    this.kept = { ...this.kept, edits }
    this.put(this.clusters.map((d) => d.cluster), true)
  }

  /** Save all complete changes, all or none; return whether they were saved. */
  async save(): Promise<boolean> {
    if (this.isBusy) return false
    this.error = ''
    this.done = ''
    const disputed = new Set(this.conflicts.map((c) => c.key))
    const ready = this.changes.filter((c) => !c.lacks && !disputed.has(c.key)).slice(0, AT_ONCE)
    this.reasonWanted = ready.some((c) => c.replaces) && !this.reason.trim()
    if (this.reasonWanted) return false
    if (!ready.length) {
      this.error = this.unsaved ? 'Nothing to save: all changes are incomplete or in conflict.' : ''
      return false
    }
    const rows = ready.map((c) => ({ unit: c.unit, kind: c.kind as Schemas['CellRowRequest']['kind'], value: c.value(), ...this.kept.edits[c.key]!.basis }))
    return this.send(ready, async () => {
      const body = this.named({ reason: ready.some((c) => c.replaces) ? this.reason.trim() : '', rows })
      const done = await data(api.POST('/api/v1/reviews/{review_id}/corrections/', { params: { path: { review_id: this.id } }, body }))
      for (const change of ready) delete this.kept.edits[change.key]
      this.kept.sent = {}
      this.put(done.clusters, false)
      this.acceptOwn(ready)
      this.reason = ''
      this.done = `${ready.length} ${ready.length === 1 ? 'change' : 'changes'} saved.`
    })
  }

  /** Add clusters, or inputs to an existing cluster. Server errors are thrown to the caller, which knows the rows. */
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

  /** Add target sentences. */
  async addSentences(texts: readonly string[]): Promise<void> {
    const rows = texts.map((text) => ({ text, inputs: [] }))
    await data(api.POST('/api/v1/reviews/{review_id}/sentences/', { params: { path: { review_id: this.id } }, body: this.named({ reason: '', rows }) }))
    this.kept.sent = {}
    await this.load()
  }

  /** The request body with its UUID, reused if the same body was sent before and its reply may be lost. */
  private named<T extends object>(body: T): T & { uuid: string } {
    const what = JSON.stringify(body)
    const uuid = this.kept.sent[what] ?? newUuid()
    this.kept.sent = { [what]: uuid }
    this.note()
    return { ...body, uuid }
  }

  private async send(sent: readonly Change[], work: () => Promise<void>): Promise<boolean> {
    this.isBusy = true
    this.refused = {}
    try {
      await work()
      return true
    } catch (error) {
      if (error instanceof Unauthenticated) this.error = 'You are signed out. Sign in and save again; nothing is lost.'
      else if (error instanceof Problem && error.status === 409) {
        await this.load()
        this.error = this.conflicts.length ? 'Nothing was saved: another curator changed the same cells. Choose a version for each.' : error.detail
      } else {
        this.error = errorMessage(error)
        if (error instanceof Problem) this.refused = refusals(error.errors, sent)
        if (error instanceof Problem && error.of('reason')) this.reasonWanted = true
      }
      return false
    } finally {
      this.isBusy = false
    }
  }
}
