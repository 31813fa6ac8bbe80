/** State of the adjudication page: the queue of one round, the open unit, and decisions being saved. */

import { api, data, Offline, Problem, type Schemas } from '../../api/client.ts'
import type { Value } from '../../kinds/kind.ts'
import { errorMessage } from '../../api/errorMessage.ts'
import { newUuid } from '../../work/outbox.ts'
import type { OtherDecision } from '../../components/rounds/decisions.ts'
import { initialState, reduce, type Action, type EditorState } from './editorState.ts'
import { following, emptyQueue, opened, overtaken, passed, received, returned, waitingAgain, type Queue, type Row } from './queue.ts'
import { offered, withReason } from './reasons.ts'

export type Detail = Schemas['AdjudicationDetail']
export type Show = 'waiting' | 'contested' | 'flagged' | 'decided'
type Decision = Schemas['AdjudicationRequest']

/** A decision that can be undone: on one unit, or (`unit` null) on many. */
interface Act {
  readonly uuid: string
  readonly unit: number | null
  readonly says: string
}

/** Milliseconds after a new unit opens in which keys do not decide: the key press was meant for the unit before. */
const TOO_SOON = 150
/** Rows of one page of the queue. */
const PAGE = 50
/** Attempts to send a request while the server is unreachable; its UUID makes repetition safe. */
const TRIES = 3
const PAUSE = 2000

export class Adjudication {
  queue = $state.raw<Queue>(emptyQueue)
  counts = $state.raw<Schemas['QueueCounts'] | null>(null)
  reasons = $state.raw<readonly string[]>([])
  show = $state.raw<Show>('waiting')
  /** Whether names of annotators are shown; not remembered between visits. */
  names = $state(false)
  unit = $state.raw<Detail | null>(null)
  editor = $state.raw<EditorState>(initialState)
  /** Counts opened units; components keyed by it are created anew for each. */
  serial = $state(0)
  before = $state.raw<Act | null>(null)
  theirs = $state.raw<OtherDecision | null>(null)
  /** Units that the queue skipped because another curator had decided them. */
  passedOver = $state.raw<readonly { unit: number; name: string }[]>([])
  problem = $state('')
  saving = $state(0)
  loaded = $state(false)

  private acts: Act[] = []
  private used: string[] = []
  private details = new Map<number, Promise<Detail>>()
  private sending: Promise<unknown> = Promise.resolve()
  private shownAt = 0
  private all = true

  constructor(readonly round: number) {}

  /** False between two units, while the shown unit is already decided. */
  private get isOpen(): boolean {
    return this.unit !== null && this.unit.unit === this.queue.open
  }

  /** Whether a curator has decided the open unit, so that it must be reopened first. A flag can be resolved without that. */
  get isDecided(): boolean {
    const { unit } = this
    return !!unit && !unit.contested.length && !unit.flagged && unit.current.some((f) => f.origin === 'decided by a curator')
  }

  tooSoon = (): boolean => performance.now() - this.shownAt < TOO_SOON

  /** `first`: the unit to open, if the address names one. */
  async start(show: Show = this.show, first: number | null = null): Promise<void> {
    this.show = show
    this.queue = emptyQueue
    this.details.clear()
    this.unit = null
    await this.more()
    await this.open(first ?? following(this.queue)?.unit ?? null, initialState, first !== null)
  }

  /** The next rows of the queue, from the server. */
  private async more(): Promise<void> {
    // Wait for pending saves, because the server would return these units again.
    await this.sending
    const after = this.queue.rows.findLast((r) => this.queue.done.get(r.unit) !== 'decided')?.unit
    try {
      const query = { show: this.show, ...(after ? { after } : {}) }
      const found = await data(api.GET('/api/v1/rounds/{round_id}/adjudication/', { params: { path: { round_id: this.round }, query } }))
      this.queue = received(this.queue, found.rows)
      this.counts = found.counts
      if (!this.reasons.length) this.reasons = offered(found.reasons)
      this.all = found.rows.length < PAGE
      this.loaded = true
      this.problem = ''
    } catch (error) {
      this.problem = errorMessage(error)
    }
  }

  /** One unit from the server, cached; the next unit is loaded ahead. */
  private detail(unit: number): Promise<Detail> {
    const cached = this.details.get(unit)
    if (cached) return cached
    const path = { round_id: this.round, unit_id: unit }
    const request = data(api.GET('/api/v1/rounds/{round_id}/adjudication/{unit_id}/', { params: { path, query: { names: this.names } } }))
    this.details.set(unit, request)
    request.catch(() => this.details.delete(unit))
    return request
  }

  /** Open a unit. `explicit`: the person chose it, so it is shown even if it is decided. */
  async open(unit: number | null, editor: EditorState = initialState, explicit = false): Promise<void> {
    this.queue = opened(this.queue, unit)
    if (unit === null && !this.all) {
      await this.more()
      const next = following(this.queue, this.queue.rows.findLast((r) => this.queue.done.has(r.unit))?.unit ?? null)
      if (next) return this.open(next.unit)
    }
    if (unit === null) {
      this.unit = null
      return
    }
    try {
      const found = await this.detail(unit)
      // The person has opened another unit meanwhile.
      if (this.queue.open !== unit) return
      const row = this.queue.rows.find((r) => r.unit === unit)
      if (!explicit && this.show !== 'decided' && row && overtaken(row, found)) {
        this.passedOver = [...this.passedOver, { unit, name: found.unit_name }]
        this.count(row, -1)
        this.queue = passed(this.queue, 'decided')
        return this.open(this.queue.open)
      }
      // The same unit, now with names: keep the state of its editor.
      if (this.unit?.unit !== unit) {
        this.serial++
        this.shownAt = performance.now()
      }
      this.unit = found
      this.editor = editor
      const next = following(this.queue)
      if (next) void this.detail(next.unit).catch(() => undefined)
    } catch (error) {
      this.problem = errorMessage(error)
    }
  }

  private async again(unit: number, editor: EditorState = initialState): Promise<void> {
    this.details.delete(unit)
    this.queue = returned(this.queue, unit)
    await this.open(unit, editor, true)
  }

  async setNames(names: boolean): Promise<void> {
    this.names = names
    this.details.clear()
    if (this.queue.open !== null) await this.open(this.queue.open, this.editor, true)
  }

  act(action: Action): void {
    if (!this.unit || !this.isOpen || this.isDecided) return
    if (action.do === 'give' && action.reason.trim()) this.offer(action.reason.trim())
    const next = reduce(this.editor, action, this.unit.answers.length)
    this.editor = next
    if (next.complete) this.save()
  }

  private offer(reason: string): void {
    this.reasons = withReason(this.reasons, reason, this.used)
    this.used = [...this.used.filter((r) => r !== reason), reason]
  }

  /** Store the decision and open the next unit at once; a refused decision reopens its unit. */
  save(): void {
    const { unit, editor } = this
    if (!unit || !this.isOpen || !editor.complete) return
    const uuid = newUuid()
    const chosen = editor.taken === null ? { value: editor.written as Value } : { answer: unit.answers[editor.taken]!.answer }
    const body: Decision = { uuid, seen: unit.seen, reason: editor.reason, ...chosen }
    const says = editor.taken === null ? 'another value' : `answer ${editor.taken + 1}`
    const row = this.queue.rows.find((r) => r.unit === unit.unit)
    this.problem = ''
    this.theirs = null
    this.passedOver = []
    this.count(row, -1)
    this.queue = passed(this.queue, 'decided')
    this.remember({ uuid, unit: unit.unit, says: `${says} · ${editor.reason}` })
    this.details.delete(unit.unit)
    void this.open(this.queue.open)
    this.saving++
    this.sending = this.sending.then(() => this.store(unit, editor, body, row))
  }

  private async store(unit: Detail, editor: EditorState, body: Decision, row: Row | undefined): Promise<void> {
    const path = { round_id: this.round, unit_id: unit.unit }
    const send = () => data(api.POST('/api/v1/rounds/{round_id}/adjudication/{unit_id}/', { params: { path }, body }))
    try {
      await persistent(send)
    } catch (error) {
      this.forget(body.uuid)
      if (error instanceof Problem && error.status === 409 && error.extra['current']) {
        // Another curator decided the unit first: show a message and continue.
        this.theirs = error.extra['current'] as OtherDecision
      } else {
        this.count(row, 1)
        await this.again(unit.unit, { ...editor, complete: false })
        this.problem = `Decision not saved. ${errorMessage(error)}`
      }
    } finally {
      this.saving--
    }
  }

  /** Undo the last action on the open unit, else the last saved decision. */
  async undo(): Promise<void> {
    if (this.unit && this.isOpen && reduce(this.editor, { do: 'undo' }, 0) !== this.editor) return this.act({ do: 'undo' })
    await this.sending
    const last = this.acts.at(-1)
    if (!last) return
    this.problem = ''
    try {
      const body = { uuid: newUuid(), act: last.uuid }
      await data(api.POST('/api/v1/rounds/{round_id}/adjudication/undo/', { params: { path: { round_id: this.round } }, body }))
    } catch (error) {
      this.problem = errorMessage(error)
      return
    } finally {
      this.forget(last.uuid)
    }
    if (last.unit === null) return this.start()
    this.count(this.queue.rows.find((r) => r.unit === last.unit), 1)
    await this.again(last.unit)
  }

  skip(): void {
    if (!this.isOpen) return
    this.queue = passed(this.queue, 'skipped')
    void this.open(this.queue.open)
  }

  /** Start again with all waiting units, skipped ones included. */
  async beginAgain(): Promise<void> {
    await this.sending
    this.queue = waitingAgain(this.queue)
    await this.start()
  }

  async reopen(reason: string): Promise<void> {
    const unit = this.unit
    if (!unit) return
    const body = { uuid: newUuid(), seen: unit.seen, reason }
    const path = { round_id: this.round, unit_id: unit.unit }
    await data(api.POST('/api/v1/rounds/{round_id}/adjudication/{unit_id}/reopen/', { params: { path }, body }))
    this.offer(reason)
    await this.start('waiting')
    await this.again(unit.unit)
  }

  /** Decide many units at once; return their number. */
  async adoptAtOnce(choice: { agreement: number; tied: boolean; units: number; reason: string }): Promise<number> {
    const uuid = newUuid()
    const body = { uuid, ...choice }
    await this.sending
    const reply = await data(api.POST('/api/v1/rounds/{round_id}/adjudication/at-once/', { params: { path: { round_id: this.round } }, body }))
    this.offer(choice.reason)
    this.remember({ uuid, unit: null, says: `${reply.units} adopted in bulk · ${choice.reason}` })
    await this.start()
    return reply.units
  }

  private remember(act: Act): void {
    this.acts = [...this.acts, act]
    this.before = act
  }

  private forget(uuid: string): void {
    this.acts = this.acts.filter((a) => a.uuid !== uuid)
    this.before = this.acts.at(-1) ?? null
  }

  private count(row: Row | undefined, by: 1 | -1): void {
    if (!this.counts || !row || this.show === 'decided' || (by < 0 && this.queue.done.get(row.unit) === 'decided')) return
    const { waiting, contested, flagged, decided } = this.counts
    this.counts = {
      waiting: waiting + by, decided: decided - by,
      contested: contested + (row.contested.length ? by : 0), flagged: flagged + (row.flagged ? by : 0),
    }
  }
}

/** Repeat a request while the server cannot be reached. */
async function persistent<T>(send: () => Promise<T>): Promise<T> {
  for (let left = TRIES; ; left--) {
    try {
      return await send()
    } catch (error) {
      const passes = error instanceof Offline || (error instanceof Problem && error.status >= 500)
      if (!passes || left <= 1) throw error
      await new Promise((done) => setTimeout(done, PAUSE))
    }
  }
}
