/** One person's work in one round: connects assignments, outbox and drafts for the Work page. */

import { api, data, Offline, Problem, putAnswer, Unauthenticated, type Schemas } from '../api/client.ts'
import type { Card, Value, Visit } from '../kinds/kind.ts'
import { Activity } from './activity.ts'
import { dropDraft, loadDraft, saveDraft } from './drafts.ts'
import { SharedRemarks } from './remarks.ts'
import { back, current, empty, heldIds, leave, putBack, receive, reopen, type HeldAssignments } from './assignments.ts'
import { storeAssignments, loadAssignments } from './storedAssignments.ts'
import { newUuid, Outbox, type Entry, type OutboxEvent, type OutboxState } from './outbox.ts'
import { savedLine } from './saved.ts'
import { StorageFull } from './store.ts'

/** Milliseconds after a new text appears in which keys do not decide: the key press was meant for the text before. */
const TOO_SOON = 150
/** Milliseconds after which an unsent answer is reported. */
const SLOW = 1500
const LAST = 10

export type Last = Card & { reason?: string }

/** A submission of any kind; the value has the type of the card's kind. */
type Said = Omit<Schemas['SubmissionRequest'], 'kind' | 'value'> & { kind: Card['kind']; value: Value | null }

/** Whether a submission is the first answer of its assignment, which progress counts. */
function isFirst(entry: Entry): boolean {
  const { revision, outcome } = JSON.parse(entry.body) as { revision: number; outcome: string }
  return revision === 0 && outcome === 'answered'
}

/** The card of a unit whose suggestion was rejected. */
function withoutValue(card: Card): Card {
  return { ...card, value: null, is_suggestion: false }
}

export class WorkSession {
  round = $state.raw<Schemas['Round'] | null>(null)
  assignments = $state.raw<HeldAssignments<Card>>(empty as HeldAssignments<Card>)
  recent = $state.raw<Last[]>([])
  progress = $state.raw<Schemas['Progress']>({ done: 0, total: 0, is_upper_bound: false })
  /** The unit being answered. `serial` counts visits; each creates a new editor. */
  unit = $state.raw<{ card: Card; visit: Visit; draft: unknown; serial: number } | null>(null)
  comment = $state('')
  flag = $state(false)
  /** Whether the person cleared the suggestion of the unit, and whether it is unchanged so far. */
  rejected = $state(false)
  isUntouched = $state(true)
  refused = $state.raw<Entry | null>(null)
  full = $state(false)
  /** In practice rounds: the last unit, with feedback once the server has replied. The next unit waits. */
  told = $state.raw<{ card: Card; feedback: Schemas['Feedback'] | null } | null>(null)
  /** Prerequisites of the round, or null. */
  prerequisite = $state.raw<Schemas['Prerequisite'] | null>(null)
  /** The person's current warning about accuracy, as of the last loading. */
  accuracy = $state.raw<Schemas['OwnAccuracy'] | null>(null)
  /** The person's results in a practice round, or null. */
  practice = $state.raw<Schemas['Practice'] | null>(null)
  loaded = $state(false)
  problem = $state('')
  /** The server refused the round: it does not exist, or the person does not take part. */
  isRefused = $state(false)
  private outboxState = $state.raw<OutboxState>({ waiting: 0, refused: 0, hindrance: 'none', sending: false, savedAt: null })
  private slow = $state(false)
  readonly saved = $derived(savedLine(this.outboxState, this.full, this.slow, this.unit !== null))
  readonly unsent = $derived(this.outboxState.waiting + this.outboxState.refused)
  /** Whether the unit is an earlier one that was reopened. */
  readonly reopened = $derived(this.unit?.visit !== 'new' && this.assignments.reopened !== null)
  readonly activity = new Activity()

  private readonly outbox: Outbox
  private readonly remarks: SharedRemarks
  private serial = 0
  private shownAt = 0
  private slowTimer: ReturnType<typeof setTimeout> | undefined
  private retryTimer: ReturnType<typeof setTimeout> | undefined
  private closed = false
  private isBusy = false
  /** Whether the answer sent last was uncounted, because another person had completed the unit. */
  isUncounted = $state(false)
  /** First answers that were not sent when the progress was last loaded. */
  private uncounted = new Set<string>()
  /** Newest revision of each assignment, including unsent answers. */
  private readonly revisions = new Map<number, number>()
  private draft: unknown = null
  /** Time of the server's last reply, which is the age of the assignments. */
  private heardAt = 0

  constructor(private readonly id: number, private readonly user: number) {
    this.outbox = new Outbox({ user, put: putAnswer, onState: this.onState, onEvent: this.onEvent })
    this.remarks = new SharedRemarks(user, ({ comment, flag }) => {
      this.comment = comment
      this.flag = flag
    })
  }

  /** Load unsent answers of earlier visits, then the assignments. */
  async start(): Promise<void> {
    try {
      for (const entry of await this.outbox.start()) this.remember(entry)
    } catch {
      // A browser without storage fails at the first answer, which then stays open.
    }
    await this.fetch()
  }

  private async fetch(): Promise<void> {
    if (this.closed) return
    const path = { params: { path: { round_id: this.id } } }
    try {
      const [round, next, recent] = await Promise.all([
        this.round ?? data(api.GET('/api/v1/rounds/{round_id}/', path)),
        data(api.GET('/api/v1/rounds/{round_id}/next/', { params: { ...path.params, query: { have: heldIds(this.assignments).join(',') } } })),
        this.loaded ? null : data(api.GET('/api/v1/rounds/{round_id}/recent/', path)),
      ])
      this.round = round
      // The server may or may not have counted these unsent answers; reload when all are stored.
      this.uncounted = new Set(this.outbox.unsent.filter((e) => e.round === this.id && isFirst(e)).map((e) => e.uuid))
      this.progress = { ...next.progress, done: next.progress.done + this.uncounted.size }
      if (recent) this.recent = recent.cards
      this.prerequisite = next.prerequisite
      this.practice = next.practice
      this.accuracy = next.accuracy
      this.problem = ''
      this.hear(next)
      if (!this.unit && !this.told) await this.show('new')
      // Last: without a unit, a loaded round is all done.
      this.loaded = true
    } catch (error) {
      const away = error instanceof Offline || (error instanceof Problem && error.status >= 500)
      const passes = away || error instanceof Unauthenticated
      if (!passes && !(error instanceof Problem)) throw error
      this.problem = error.message
      this.isRefused = !passes && !this.round
      if (passes) this.retryTimer = setTimeout(() => void this.fetch(), 4000)
      if (away && !this.round) await this.goOnWithKept()
    }
  }

  /** Without a connection, continue with the stored assignments of an earlier visit. */
  private async goOnWithKept(): Promise<void> {
    const kept = await loadAssignments(this.user, this.id)
    if (!kept || this.round) return
    this.round = kept.about
    this.progress = kept.progress
    this.heardAt = kept.at
    this.assignments = receive(this.assignments, { held: kept.cards.map((c) => c.assignment), fetched: kept.cards })
    if (!this.unit) await this.show('new')
  }

  private hear(reply: { held: number[]; fetched: Card[] }): void {
    this.heardAt = Date.now()
    this.assignments = receive(this.assignments, reply)
    this.storeAssignments()
  }

  /** Store the held assignments, except in practice rounds, which need the server's feedback after each unit. */
  private storeAssignments(): void {
    if (!this.round || this.round.gives_feedback) return
    const cards = heldIds(this.assignments).map((id) => this.assignments.cards.get(id)!)
    void storeAssignments({ user: this.user, round: this.id, about: this.round, cards, progress: this.progress, at: this.heardAt })
  }

  /** Show the current card with its draft, or with the steps with which it was `left`. */
  private async show(visit: Visit, left: unknown = null): Promise<void> {
    const card = current(this.assignments)
    if (!card) {
      this.unit = null
      this.refused = null
      return
    }
    const draft = left ? null : await loadDraft(this.user, card.assignment, this.revisionOf(card))
    if (current(this.assignments) !== card) return
    this.draft = left ?? draft?.state ?? null
    this.comment = draft?.comment ?? card.comment
    this.flag = draft?.flag ?? card.flag
    this.rejected = draft?.rejected ?? false
    this.isUntouched = !draft
    this.remarks.loaded(card.assignment, this)
    this.activity.restart(draft?.activeMs)
    this.shownAt = performance.now()
    // A shown current value waits for Enter, because one changed field need not be the last.
    const shown = this.rejected ? withoutValue(card) : card
    const seen: Visit = visit === 'new' && shown.value && (!draft || !card.revision) ? 'reopened' : visit
    this.unit = { card: shown, visit: seen, draft: this.draft, serial: ++this.serial }
  }

  private async goOn(): Promise<void> {
    await this.show('new')
    // Nothing left and nothing unsent: ask the server once more before showing that all is done.
    if (!this.unit && !this.unsent) await this.fetch()
  }

  tooSoon = (): boolean => performance.now() - this.shownAt < TOO_SOON

  private revisionOf(card: { assignment: number; revision: number }): number {
    return Math.max(card.revision, this.revisions.get(card.assignment) ?? 0)
  }

  // ---- actions of the person ----

  changed = (draft: unknown): void => {
    this.draft = draft
    this.isUntouched = false
    this.keepDraft()
  }

  keepDraft(): void {
    const card = this.unit?.card
    if (!card) return
    this.remarks.share(this)
    // Plain data: a proxy of the page's state cannot be stored.
    const draft = {
      user: this.user, assignment: card.assignment, revision: this.revisionOf(card), state: $state.snapshot(this.draft),
      comment: this.comment, flag: this.flag, activeMs: this.activity.ms, rejected: this.rejected,
    }
    saveDraft(draft).catch(() => (this.full = true))
  }

  answer = (value: Value, draft: unknown): Promise<void> => this.submit('answered', value, '', draft)

  skip = (reason: string, draft: unknown): Promise<void> => this.submit('skipped', null, reason, draft)

  private async submit(outcome: 'answered' | 'skipped', value: Value | null, reason: string, draft: unknown): Promise<void> {
    const unit = this.unit
    if (!unit || this.isBusy) return
    this.isBusy = true
    const { card } = unit
    const revision = this.base(card)
    const after = leave(this.assignments, { ...card, value, outcome, revision: revision + 1, comment: this.comment, flag: this.flag, is_suggestion: false } as Card, draft)
    const body = JSON.stringify({
      assignment: card.assignment, revision, kind: card.kind, outcome, reason, shown: card.shown, active_ms: this.activity.ms,
      comment: this.comment, flag: this.flag, value, references: card.references ?? [], have: heldIds(after),
      rejects_suggestion: this.rejected,
    } satisfies Said)
    try {
      await this.outbox.add({ uuid: newUuid(), round: this.id, assignment: card.assignment, body, card })
    } catch (error) {
      if (!(error instanceof StorageFull)) throw error
      // The unit stays open: never continue before the answer is stored.
      this.full = true
      this.unit = { ...unit, draft: { ...(draft as object) }, visit: 'back', serial: ++this.serial }
      return
    } finally {
      this.isBusy = false
    }
    this.full = false
    this.refused = null
    this.revisions.set(card.assignment, revision + 1)
    const done = after.left.at(-1)!.card
    if (this.revisionOf(card) === 1 && outcome === 'answered' && card.revision === 0) {
      this.progress = { ...this.progress, done: this.progress.done + 1 }
    }
    this.recent = [{ ...done, reason }, ...this.recent.filter((c) => c.assignment !== card.assignment)].slice(0, LAST)
    this.assignments = after
    this.storeAssignments()
    if (this.round?.gives_feedback) {
      this.told = { card: done, feedback: null }
      this.unit = null
    } else await this.goOn()
  }

  /** Continue after feedback: with the same unit if a try is left, otherwise with the next. */
  next = async (): Promise<void> => {
    const told = this.told
    if (!told?.feedback) return
    this.told = null
    if (!told.feedback.tries_left) return this.goOn()
    this.assignments = reopen(this.assignments, told.card)
    await this.show('reopened')
  }

  /** Start the first unit after the introduction, whose time does not count. */
  begin = (): Promise<void> => this.show('new')

  /** Reload the assignments after a prerequisite is completed. */
  again = async (): Promise<void> => {
    this.unit = null
    await this.fetch()
  }

  /** The revision that an answer is based on, or the newer one named in a refusal. */
  private base(card: Card): number {
    const current = this.refused?.assignment === card.assignment ? this.refused.refused?.current : null
    const told = (current as { revision?: number } | null)?.revision
    if (told !== undefined) return told
    return this.refused?.assignment === card.assignment ? (JSON.parse(this.refused.body) as { revision: number }).revision : this.revisionOf(card)
  }

  /** Undo beyond the first step of a unit: return to the previous unit. */
  back = async (): Promise<void> => {
    if (this.isBusy || this.refused || this.round?.gives_feedback) return
    const to = back(this.assignments)
    if (!to) return
    this.keepDraft()
    this.assignments = to.assignments
    await this.show('back', to.left.trail)
  }

  reopen = async (card: Card): Promise<void> => {
    if (this.isBusy || card.assignment === this.unit?.card.assignment) return
    this.keepDraft()
    this.assignments = reopen(this.assignments, card)
    await this.show('reopened')
  }

  /** Clear the suggestion of the unit and begin anew, or show it again. */
  reject = (rejected = true): void => {
    const card = current(this.assignments)
    if (!this.unit || !card?.is_suggestion || this.isBusy || rejected === this.rejected) return
    this.rejected = rejected
    this.isUntouched = true
    this.draft = null
    this.keepDraft()
    this.unit = { card: rejected ? withoutValue(card) : card, visit: rejected ? 'new' : 'reopened', draft: null, serial: ++this.serial }
  }

  /** Leave a reopened unit unchanged. */
  putBack = async (): Promise<void> => {
    const card = this.unit?.card
    if (!card) return
    if (this.refused) {
      await this.outbox.discard(card.assignment)
      this.revisions.delete(card.assignment)
      this.refused = null
    }
    void dropDraft(this.user, card.assignment).catch(() => undefined)
    this.assignments = putBack(this.assignments)
    await this.goOn()
  }

  // ---- events of the outbox ----

  private readonly onState = (state: OutboxState): void => {
    this.outboxState = state
    clearTimeout(this.slowTimer)
    this.slow = false
    if (state.waiting) this.slowTimer = setTimeout(() => (this.slow = true), SLOW)
  }

  private readonly onEvent = (event: OutboxEvent): void => {
    if (event.entry.round !== this.id) return
    if (event.type === 'refused') return void this.bringBack(event.entry)
    const { answer } = event.reply
    if (this.uncounted.delete(event.entry.uuid) && !this.uncounted.size) void this.fetch()
    this.isUncounted = answer.outcome === 'answered' && !answer.counted
    this.revisions.set(answer.assignment, Math.max(answer.revision, this.revisions.get(answer.assignment) ?? 0))
    this.hear(event.reply)
    if (this.told?.card.assignment === answer.assignment) this.told = { ...this.told, feedback: event.reply.feedback }
    else if (!this.unit && !this.told) void this.goOn()
  }

  /** Hide a unit answered on an earlier visit, unless the server refused the answer. */
  private remember(entry: Entry): void {
    const { revision, outcome } = JSON.parse(entry.body) as { revision: number; outcome: string }
    this.revisions.set(entry.assignment, revision + 1)
    if (entry.round !== this.id) return
    this.assignments = { ...this.assignments, gone: new Set(this.assignments.gone).add(entry.assignment) }
    if (entry.refused && outcome) void this.bringBack(entry)
  }

  /** Reopen the unit whose answer was refused, with the person's value. */
  private async bringBack(entry: Entry): Promise<void> {
    if (this.refused) return
    this.told = null
    this.keepDraft()
    const mine = this.outbox.unsent.findLast((e) => e.assignment === entry.assignment) ?? entry
    const said = JSON.parse(mine.body) as { value: Value | null; comment: string; flag: boolean }
    this.refused = entry
    this.assignments = reopen(this.assignments, { ...mine.card, value: said.value, comment: said.comment, flag: said.flag } as Card)
    await this.show('reopened')
  }

  /** Retry after a new sign-in or at the person's request. */
  retry(): void {
    this.outbox.retry()
    if (!this.loaded) void this.fetch()
  }

  close(): void {
    this.closed = true
    clearTimeout(this.slowTimer)
    clearTimeout(this.retryTimer)
    this.outbox.close()
    this.remarks.close()
  }
}
