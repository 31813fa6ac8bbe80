/** A curator at the queue of one round: what waits, the unit that is open, and what is on its way. The page draws it. */

import { api, data, Offline, Problem, type Schemas } from '../api/client.ts'
import type { Value } from '../kinds/kind.ts'
import { errorMessage } from '../parts/errorMessage.ts'
import { newUuid } from '../work/outbox.ts'
import { fresh, reduce, type Action, type Desk } from './desk.ts'
import { following, noLine, opened, overtaken, passed, received, returned, waitingAgain, type Line, type Row } from './line.ts'
import { offered, withReason } from './reasons.ts'

export type Dossier = Schemas['Dossier']
export type Show = 'waiting' | 'contested' | 'flagged' | 'decided'
type Decision = Schemas['AdjudicationRequest']

/** What somebody else decided while this page was open. */
export interface Theirs {
  readonly unit: number
  readonly said: readonly { field: string; value: string }[]
  readonly by: string
  readonly reason: string
}

/** What can be undone: one unit, or many at once. */
interface Act {
  readonly uuid: string
  readonly unit: number | null
  readonly says: string
}

/** In the first moments of a new unit nothing settles: the key was meant for the one before. */
const TOO_SOON = 150
/** Rows of one page of the queue. */
const PAGE = 50
/** So often a request is sent again where the server is away; it knows a repetition by its identifier. */
const TRIES = 3
const PAUSE = 2000

export class Adjudication {
  line = $state.raw<Line>(noLine)
  counts = $state.raw<Schemas['QueueCounts'] | null>(null)
  reasons = $state.raw<readonly string[]>([])
  show = $state.raw<Show>('waiting')
  /** Who gave which answer: asked for on this visit alone. */
  names = $state(false)
  unit = $state.raw<Dossier | null>(null)
  desk = $state.raw<Desk>(fresh)
  /** Counts visits: what belongs to one unit is made anew for each. */
  serial = $state(0)
  before = $state.raw<Act | null>(null)
  theirs = $state.raw<Theirs | null>(null)
  /** What somebody else had decided when the queue came to it: it went on by itself. */
  passedOver = $state.raw<readonly { unit: number; key: string }[]>([])
  problem = $state('')
  saving = $state(0)
  loaded = $state(false)

  private acts: Act[] = []
  private used: string[] = []
  private dossiers = new Map<number, Promise<Dossier>>()
  private sending: Promise<unknown> = Promise.resolve()
  private shownAt = 0
  private all = true

  constructor(readonly round: number) {}

  /** False in the moments between two units: what is shown is done already. */
  private get isOpen(): boolean {
    return this.unit !== null && this.unit.unit === this.line.open
  }

  tooSoon = (): boolean => performance.now() - this.shownAt < TOO_SOON

  /** `first`: the unit to begin with, where somebody comes for one. */
  async start(show: Show = this.show, first: number | null = null): Promise<void> {
    this.show = show
    this.line = noLine
    this.dossiers.clear()
    this.unit = null
    await this.more()
    await this.open(first ?? following(this.line)?.unit ?? null, fresh, first !== null)
  }

  /** The next rows of the queue, from the server. */
  private async more(): Promise<void> {
    // What is on its way would come again. After the last row that still waits comes the rest.
    await this.sending
    const after = this.line.rows.findLast((r) => this.line.done.get(r.unit) !== 'decided')?.unit
    try {
      const query = { show: this.show, ...(after ? { after } : {}) }
      const found = await data(api.GET('/api/v1/rounds/{round_id}/adjudication/', { params: { path: { round_id: this.round }, query } }))
      this.line = received(this.line, found.rows)
      this.counts = found.counts
      if (!this.reasons.length) this.reasons = offered(found.reasons)
      this.all = found.rows.length < PAGE
      this.loaded = true
      this.problem = ''
    } catch (error) {
      this.problem = errorMessage(error)
    }
  }

  /** One unit as the server has it; asked for once, before it is needed. */
  private dossier(unit: number): Promise<Dossier> {
    const there = this.dossiers.get(unit)
    if (there) return there
    const path = { round_id: this.round, unit_id: unit }
    const asked = data(api.GET('/api/v1/rounds/{round_id}/adjudication/{unit_id}/', { params: { path, query: { names: this.names } } }))
    this.dossiers.set(unit, asked)
    asked.catch(() => this.dossiers.delete(unit))
    return asked
  }

  /** `asked`: somebody wants to see this very unit, whatever became of it. */
  async open(unit: number | null, desk: Desk = fresh, asked = false): Promise<void> {
    this.line = opened(this.line, unit)
    if (unit === null && !this.all) {
      await this.more()
      const next = following(this.line, this.line.rows.findLast((r) => this.line.done.has(r.unit))?.unit ?? null)
      if (next) return this.open(next.unit)
    }
    if (unit === null) {
      this.unit = null
      return
    }
    try {
      const found = await this.dossier(unit)
      // Somebody has gone on meanwhile.
      if (this.line.open !== unit) return
      const row = this.line.rows.find((r) => r.unit === unit)
      if (!asked && this.show !== 'decided' && row && overtaken(row, found)) {
        this.passedOver = [...this.passedOver, { unit, key: found.key }]
        this.count(row, -1)
        this.line = passed(this.line, 'decided')
        return this.open(this.line.open)
      }
      // The same unit, with names by now: what is being written in it goes on.
      if (this.unit?.unit !== unit) {
        this.serial++
        this.shownAt = performance.now()
      }
      this.unit = found
      this.desk = desk
      const next = following(this.line)
      if (next) void this.dossier(next.unit).catch(() => undefined)
    } catch (error) {
      this.problem = errorMessage(error)
    }
  }

  private async again(unit: number, desk: Desk = fresh): Promise<void> {
    this.dossiers.delete(unit)
    this.line = returned(this.line, unit)
    await this.open(unit, desk, true)
  }

  async setNames(names: boolean): Promise<void> {
    this.names = names
    this.dossiers.clear()
    if (this.line.open !== null) await this.open(this.line.open, this.desk, true)
  }

  act(action: Action): void {
    if (!this.unit || !this.isOpen) return
    if (action.do === 'give' && action.reason.trim()) this.offer(action.reason.trim())
    const next = reduce(this.desk, action, this.unit.answers.length)
    this.desk = next
    if (next.complete) this.save()
  }

  private offer(reason: string): void {
    this.reasons = withReason(this.reasons, reason, this.used)
    this.used = [...this.used.filter((r) => r !== reason), reason]
  }

  /** Stores what the desk has and goes on at once; what is refused comes back. */
  save(): void {
    const { unit, desk } = this
    if (!unit || !this.isOpen || !desk.complete) return
    const uuid = newUuid()
    const chosen = desk.taken === null ? { value: desk.written as Value } : { answer: unit.answers[desk.taken]!.answer }
    const body: Decision = { uuid, seen: unit.seen, reason: desk.reason, ...chosen }
    const says = desk.taken === null ? 'another value' : `answer ${desk.taken + 1}`
    const row = this.line.rows.find((r) => r.unit === unit.unit)
    this.problem = ''
    this.theirs = null
    this.passedOver = []
    this.count(row, -1)
    this.line = passed(this.line, 'decided')
    this.remember({ uuid, unit: unit.unit, says: `${says} · ${desk.reason}` })
    this.dossiers.delete(unit.unit)
    void this.open(this.line.open)
    this.saving++
    this.sending = this.sending.then(() => this.store(unit, desk, body, row))
  }

  private async store(unit: Dossier, desk: Desk, body: Decision, row: Row | undefined): Promise<void> {
    const path = { round_id: this.round, unit_id: unit.unit }
    const send = () => data(api.POST('/api/v1/rounds/{round_id}/adjudication/{unit_id}/', { params: { path }, body }))
    try {
      await persistent(send)
    } catch (error) {
      this.forget(body.uuid)
      if (error instanceof Problem && error.status === 409 && error.extra['current']) {
        // Decided all the same, by somebody else: it is said, and the work goes on.
        this.theirs = error.extra['current'] as Theirs
      } else {
        this.count(row, 1)
        await this.again(unit.unit, { ...desk, complete: false })
        this.problem = errorMessage(error)
      }
    } finally {
      this.saving--
    }
  }

  /** Undo: within the unit, else what was saved last. */
  async undo(): Promise<void> {
    if (this.unit && this.isOpen && reduce(this.desk, { do: 'undo' }, 0) !== this.desk) return this.act({ do: 'undo' })
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
    this.count(this.line.rows.find((r) => r.unit === last.unit), 1)
    await this.again(last.unit)
  }

  skip(): void {
    if (!this.isOpen) return
    this.line = passed(this.line, 'skipped')
    void this.open(this.line.open)
  }

  /** From the beginning of what waits, skipped units among it. */
  async beginAgain(): Promise<void> {
    await this.sending
    this.line = waitingAgain(this.line)
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

  /** Many at once; how many. */
  async adoptAtOnce(asked: { agreement: number; tied: boolean; units: number; reason: string }): Promise<number> {
    const uuid = newUuid()
    const body = { uuid, ...asked }
    await this.sending
    const made = await data(api.POST('/api/v1/rounds/{round_id}/adjudication/at-once/', { params: { path: { round_id: this.round } }, body }))
    this.offer(asked.reason)
    this.remember({ uuid, unit: null, says: `${made.units} adopted in bulk · ${asked.reason}` })
    await this.start()
    return made.units
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
    if (!this.counts || !row || this.show === 'decided') return
    const { waiting, contested, flagged, decided } = this.counts
    this.counts = {
      waiting: waiting + by, decided: decided - by,
      contested: contested + (row.contested.length ? by : 0), flagged: flagged + (row.flagged ? by : 0),
    }
  }
}

/** Sends it again where the server cannot be reached. */
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
