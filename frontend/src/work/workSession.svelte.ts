/** One person at work in one round: the hand, the outbox and the drafts, tied together. The page draws it. */

import { api, data, Offline, Problem, putAnswer, Unauthenticated, type Schemas } from '../api/client.ts'
import type { Card, Value, Visit } from '../kinds/kind.ts'
import { Activity } from './activity.ts'
import { dropDraft, loadDraft, saveDraft } from './drafts.ts'
import { back, current, empty, held, leave, putBack, receive, reopen, type Hand } from './hand.ts'
import { keepHand, keptHand } from './keptHand.ts'
import { newUuid, Outbox, type Entry, type OutboxEvent, type OutboxState } from './outbox.ts'
import { savedLine } from './saved.ts'
import { StorageFull } from './store.ts'

/** In the first moments of a new text nothing settles: the key was meant for the one before. */
const TOO_SOON = 150
/** After so long on its way an answer is said not to be sent. */
const SLOW = 1500
const LAST = 10

export type Last = Card & { reason?: string }

/** A submission before its kind is told apart: the value is that of the card's kind. */
type Said = Omit<Schemas['SubmissionRequest'], 'kind' | 'value'> & { kind: Card['kind']; value: Value | null }

/** Whether a submission is the first answer of its slot: what progress counts. */
function isFirst(entry: Entry): boolean {
  const { revision, outcome } = JSON.parse(entry.body) as { revision: number; outcome: string }
  return revision === 0 && outcome === 'answered'
}

export class WorkSession {
  round = $state.raw<Schemas['Round'] | null>(null)
  hand = $state.raw<Hand<Card>>(empty as Hand<Card>)
  recent = $state.raw<Last[]>([])
  progress = $state.raw<Schemas['Progress']>({ done: 0, total: null })
  /** The unit that is being answered. `serial` counts visits: the component of the kind is made anew for each. */
  unit = $state.raw<{ card: Card; visit: Visit; draft: unknown; serial: number } | null>(null)
  comment = $state('')
  flag = $state(false)
  refused = $state.raw<Entry | null>(null)
  full = $state(false)
  /** In practice: the unit answered last, and what was expected once the server has told. Nothing goes on meanwhile. */
  told = $state.raw<{ card: Card; feedback: Schemas['Feedback'] | null } | null>(null)
  /** What comes before the first unit. */
  first = $state.raw<Schemas['First'] | null>(null)
  /** How the person fares in practice. */
  practice = $state.raw<Schemas['Practice'] | null>(null)
  loaded = $state(false)
  problem = $state('')
  private outboxState = $state.raw<OutboxState>({ waiting: 0, refused: 0, hindrance: 'none', sending: false, savedAt: null })
  private slow = $state(false)
  readonly saved = $derived(savedLine(this.outboxState, this.full, this.slow, this.unit !== null))
  readonly unsent = $derived(this.outboxState.waiting + this.outboxState.refused)
  /** Whether the unit was taken out again, and the hand goes on after it. */
  readonly reopened = $derived(this.unit?.visit !== 'new' && this.hand.reopened !== null)
  readonly activity = new Activity()

  private readonly outbox: Outbox
  private serial = 0
  private shownAt = 0
  private slowTimer: ReturnType<typeof setTimeout> | undefined
  private retryTimer: ReturnType<typeof setTimeout> | undefined
  private closed = false
  private busy = false
  /** The answer sent last came after somebody else had the slot. */
  surplus = $state(false)
  /** First answers that had not been sent when the progress was last asked for. */
  private uncounted = new Set<string>()
  /** Newest revision of each assignment, those still on their way counted. */
  private readonly revisions = new Map<number, number>()
  private draft: unknown = null
  /** When the server was heard last: so old is the hand. */
  private heardAt = 0

  constructor(private readonly id: number, private readonly user: number) {
    this.outbox = new Outbox({ user, put: putAnswer, onState: this.onState, onEvent: this.onEvent })
  }

  /** Reads what an earlier visit left unsent, then what there is to do. */
  async start(): Promise<void> {
    try {
      for (const entry of await this.outbox.start()) this.remember(entry)
    } catch {
      // A browser that keeps nothing says so at the first answer, which then stays open.
    }
    await this.fetch()
  }

  private async fetch(): Promise<void> {
    if (this.closed) return
    const path = { params: { path: { round_id: this.id } } }
    try {
      const [round, next, recent] = await Promise.all([
        this.round ?? data(api.GET('/api/v1/rounds/{round_id}/', path)),
        data(api.GET('/api/v1/rounds/{round_id}/next/', { params: { ...path.params, query: { have: held(this.hand).join(',') } } })),
        this.loaded ? null : data(api.GET('/api/v1/rounds/{round_id}/recent/', path)),
      ])
      this.round = round
      // What is still here may or may not be counted there already: asked again once all of it is known to be.
      this.uncounted = new Set(this.outbox.unsent.filter((e) => e.round === this.id && isFirst(e)).map((e) => e.uuid))
      this.progress = { ...next.progress, done: next.progress.done + this.uncounted.size }
      if (recent) this.recent = recent.cards
      this.first = next.first
      this.practice = next.practice
      this.loaded = true
      this.problem = ''
      this.hear(next)
      if (!this.unit && !this.told) await this.show('new')
    } catch (error) {
      const away = error instanceof Offline || (error instanceof Problem && error.status >= 500)
      const passes = away || error instanceof Unauthenticated
      if (!passes && !(error instanceof Problem)) throw error
      this.problem = error.message
      if (passes) this.retryTimer = setTimeout(() => void this.fetch(), 4000)
      if (away && !this.round) await this.goOnWithKept()
    }
  }

  /** Loaded while the server is away: on with the units that an earlier visit held. */
  private async goOnWithKept(): Promise<void> {
    const kept = await keptHand(this.user, this.id)
    if (!kept || this.round) return
    this.round = kept.about
    this.progress = kept.progress
    this.heardAt = kept.at
    this.hand = receive(this.hand, { hand: kept.cards.map((c) => c.assignment), fetched: kept.cards })
    if (!this.unit) await this.show('new')
  }

  private hear(reply: { hand: number[]; fetched: Card[] }): void {
    this.heardAt = Date.now()
    this.hand = receive(this.hand, reply)
    this.keepHand()
  }

  /** In practice the server answers every unit: there is no going on without it. */
  private keepHand(): void {
    if (!this.round || this.round.gives_feedback) return
    const cards = held(this.hand).map((id) => this.hand.cards.get(id)!)
    void keepHand({ user: this.user, round: this.id, about: this.round, cards, progress: this.progress, at: this.heardAt })
  }

  /** Shows the current card, with the draft that there may be, or as it was `left`. */
  private async show(visit: Visit, left: unknown = null): Promise<void> {
    const card = current(this.hand)
    if (!card) {
      this.unit = null
      this.refused = null
      return
    }
    const draft = left ? null : await loadDraft(this.user, card.assignment, this.revisionOf(card))
    if (current(this.hand) !== card) return
    this.draft = left ?? draft?.state ?? null
    this.comment = draft?.comment ?? card.comment
    this.flag = draft?.flag ?? card.flag
    this.activity.restart(draft?.activeMs)
    this.shownAt = performance.now()
    // A value to be reviewed waits for Enter, whatever was begun: one changed field need not be the last.
    const seen: Visit = visit === 'new' && card.value && (!draft || !card.revision) ? 'reopened' : visit
    this.unit = { card, visit: seen, draft: this.draft, serial: ++this.serial }
  }

  private async goOn(): Promise<void> {
    await this.show('new')
    // Nothing left, nothing on its way: ask once more before saying that all is done.
    if (!this.unit && !this.unsent) await this.fetch()
  }

  tooSoon = (): boolean => performance.now() - this.shownAt < TOO_SOON

  private revisionOf(card: { assignment: number; revision: number }): number {
    return Math.max(card.revision, this.revisions.get(card.assignment) ?? 0)
  }

  // ---- what the person does ----

  changed = (draft: unknown): void => {
    this.draft = draft
    this.keepDraft()
  }

  keepDraft(): void {
    const card = this.unit?.card
    if (!card) return
    // Plain data: a proxy of the page's state cannot be stored.
    const draft = {
      user: this.user, assignment: card.assignment, revision: this.revisionOf(card), state: $state.snapshot(this.draft),
      comment: this.comment, flag: this.flag, activeMs: this.activity.ms,
    }
    saveDraft(draft).catch(() => (this.full = true))
  }

  answer = (value: Value, draft: unknown): Promise<void> => this.submit('answered', value, '', draft)

  skip = (reason: string, draft: unknown): Promise<void> => this.submit('skipped', null, reason, draft)

  private async submit(outcome: 'answered' | 'skipped', value: Value | null, reason: string, draft: unknown): Promise<void> {
    const unit = this.unit
    if (!unit || this.busy) return
    this.busy = true
    const { card } = unit
    const revision = this.base(card)
    const after = leave(this.hand, { ...card, value, outcome, revision: revision + 1, comment: this.comment, flag: this.flag } as Card, draft)
    const body = JSON.stringify({
      assignment: card.assignment, revision, kind: card.kind, outcome, reason, shown: card.shown, active_ms: this.activity.ms,
      comment: this.comment, flag: this.flag, value, references: card.references ?? [], have: held(after),
    } satisfies Said)
    try {
      await this.outbox.add({ uuid: newUuid(), round: this.id, assignment: card.assignment, body, card })
    } catch (error) {
      if (!(error instanceof StorageFull)) throw error
      // The unit stays open as it was: nothing goes on that is not safe.
      this.full = true
      this.unit = { ...unit, draft: { ...(draft as object) }, visit: 'back', serial: ++this.serial }
      return
    } finally {
      this.busy = false
    }
    this.full = false
    this.refused = null
    this.revisions.set(card.assignment, revision + 1)
    const done = after.left.at(-1)!.card
    if (this.revisionOf(card) === 1 && outcome === 'answered' && card.revision === 0) {
      this.progress = { ...this.progress, done: this.progress.done + 1 }
    }
    this.recent = [{ ...done, reason }, ...this.recent.filter((c) => c.assignment !== card.assignment)].slice(0, LAST)
    this.hand = after
    this.keepHand()
    if (this.round?.gives_feedback) {
      this.told = { card: done, feedback: null }
      this.unit = null
    } else await this.goOn()
  }

  /** On from what was told: to the same unit where there is a try left, else to the next. */
  next = async (): Promise<void> => {
    const told = this.told
    if (!told?.feedback) return
    this.told = null
    if (!told.feedback.tries_left) return this.goOn()
    this.hand = reopen(this.hand, told.card)
    await this.show('reopened')
  }

  /** The first unit comes into sight only now: what came before it was no work on it. */
  begin = (): Promise<void> => this.show('new')

  /** Asks anew what there is to do: something that came first is done. */
  again = async (): Promise<void> => {
    this.unit = null
    await this.fetch()
  }

  /** The revision that the answer follows; where a refusal told of a newer one, that. */
  private base(card: Card): number {
    const current = this.refused?.assignment === card.assignment ? this.refused.refused?.current : null
    const told = (current as { revision?: number } | null)?.revision
    if (told !== undefined) return told
    return this.refused?.assignment === card.assignment ? (JSON.parse(this.refused.body) as { revision: number }).revision : this.revisionOf(card)
  }

  /** Undo beyond the first step of a unit: to the one before. */
  back = async (): Promise<void> => {
    if (this.busy || this.refused || this.round?.gives_feedback) return
    const to = back(this.hand)
    if (!to) return
    this.keepDraft()
    this.hand = to.hand
    await this.show('back', to.left.trail)
  }

  reopen = async (card: Card): Promise<void> => {
    if (this.busy || card.assignment === this.unit?.card.assignment) return
    this.keepDraft()
    this.hand = reopen(this.hand, card)
    await this.show('reopened')
  }

  /** Leaves a reopened unit as it was answered before. */
  putBack = async (): Promise<void> => {
    const card = this.unit?.card
    if (!card) return
    if (this.refused) {
      await this.outbox.discard(card.assignment)
      this.revisions.delete(card.assignment)
      this.refused = null
    }
    void dropDraft(this.user, card.assignment).catch(() => undefined)
    this.hand = putBack(this.hand)
    await this.goOn()
  }

  // ---- what the outbox tells ----

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
    this.surplus = answer.outcome === 'answered' && !answer.counted
    this.revisions.set(answer.assignment, Math.max(answer.revision, this.revisions.get(answer.assignment) ?? 0))
    this.hear(event.reply)
    if (this.told?.card.assignment === answer.assignment) this.told = { ...this.told, feedback: event.reply.feedback }
    else if (!this.unit && !this.told) void this.goOn()
  }

  /** An answer of an earlier visit: it is not to be shown as work, unless the server refused it. */
  private remember(entry: Entry): void {
    const { revision, outcome } = JSON.parse(entry.body) as { revision: number; outcome: string }
    this.revisions.set(entry.assignment, revision + 1)
    if (entry.round !== this.id) return
    this.hand = { ...this.hand, gone: new Set(this.hand.gone).add(entry.assignment) }
    if (entry.refused && outcome) void this.bringBack(entry)
  }

  /** Brings the person back to the unit whose answer was refused, with what they had said. */
  private async bringBack(entry: Entry): Promise<void> {
    if (this.refused) return
    this.told = null
    this.keepDraft()
    const mine = this.outbox.unsent.findLast((e) => e.assignment === entry.assignment) ?? entry
    const said = JSON.parse(mine.body) as { value: Value | null; comment: string; flag: boolean }
    this.refused = entry
    this.hand = reopen(this.hand, { ...mine.card, value: said.value, comment: said.comment, flag: said.flag } as Card)
    await this.show('reopened')
  }

  /** Somebody has signed in again, or wants to try. */
  retry(): void {
    this.outbox.retry()
    if (!this.loaded) void this.fetch()
  }

  close(): void {
    this.closed = true
    clearTimeout(this.slowTimer)
    clearTimeout(this.retryTimer)
    this.outbox.close()
  }
}
