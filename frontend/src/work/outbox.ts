/**
 * Outbox of answers. Each answer is written to the browser's database as the exact bytes to send, before the page moves
 * on. One sender over all tabs then sends them in order until each is stored or refused by the server. An answer never
 * leaves the outbox otherwise.
 */

import { Offline, Problem, Unauthenticated, type Schemas } from '../api/client.ts'
import { read, write } from './store.ts'

export interface Entry {
  seq?: number
  uuid: string
  user: number
  round: number
  assignment: number
  /** The request body, stored once and sent unchanged on every attempt. */
  body: string
  /** The card, so that a refused answer can be shown again after a reload. */
  card: Schemas['Card']
  /** Why the server refused the answer; null while it waits. */
  refused: Refusal | null
}

export interface Refusal {
  status: number
  kind: string
  detail: string
  errors: { field: string; message: string }[]
  current: unknown
}

/** Why answers cannot be sent. */
export type Hindrance = 'none' | 'offline' | 'signed-out' | 'too-fast'

export interface OutboxState {
  waiting: number
  refused: number
  hindrance: Hindrance
  sending: boolean
  savedAt: Date | null
}

export type Reply = Schemas['Submitted']
export type OutboxEvent = { type: 'stored'; entry: Entry; reply: Reply } | { type: 'refused'; entry: Entry }

interface Options {
  user: number
  put: (uuid: string, body: string) => Promise<Reply>
  onState: (state: OutboxState) => void
  onEvent: (event: OutboxEvent) => void
  /** Milliseconds before the next attempt after n failures. */
  backOff?: (failures: number) => number
}

const CHANNEL = 'concord-outbox'

export class Outbox {
  private entries: Entry[] = []
  private state: OutboxState = { waiting: 0, refused: 0, hindrance: 'none', sending: false, savedAt: null }
  private failures = 0
  /** Time in milliseconds before which the server asked not to be called (Retry-After). */
  private notBefore = 0
  private timer: ReturnType<typeof setTimeout> | undefined
  private running: Promise<void> | null = null
  private again = false
  private closed = false
  private readonly channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel(CHANNEL)

  constructor(private readonly options: Options) {
    globalThis.addEventListener?.('online', this.retry)
    if (this.channel) this.channel.onmessage = (m: MessageEvent<{ user: number; event: OutboxEvent }>) => void this.receive(m.data)
  }

  /** Read the outbox of earlier pages and start sending. Resolves when the list is read, not when it is sent. */
  async start(): Promise<readonly Entry[]> {
    await this.reload()
    void this.flush()
    return this.entries
  }

  /** Store an answer; resolves when it is durable. Throws `StorageFull` if nothing was stored. */
  async add(entry: Omit<Entry, 'seq' | 'user' | 'refused'>): Promise<void> {
    const stored: Entry = { ...entry, user: this.options.user, refused: null }
    const replaced = this.blocked(stored.assignment)
    const seq = await write(['outbox', 'drafts'], (tx) => {
      tx.objectStore('drafts').delete([stored.user, stored.assignment])
      // A corrected answer replaces the refused one, and those waiting behind it, in the same
      // transaction, so that exactly one version exists.
      for (const old of replaced) tx.objectStore('outbox').delete(old.seq!)
      return tx.objectStore('outbox').add(stored)
    })
    this.entries = this.entries.filter((e) => !replaced.includes(e)).concat({ ...stored, seq: Number(seq) })
    this.tell()
    void this.flush()
  }

  /** Remove a refused answer, and those waiting behind it, at the person's request. */
  async discard(assignment: number): Promise<void> {
    const gone = this.blocked(assignment)
    await write(['outbox'], (tx) => void gone.forEach((e) => tx.objectStore('outbox').delete(e.seq!)) as undefined)
    this.entries = this.entries.filter((e) => !gone.includes(e))
    this.tell()
    void this.flush()
  }

  /** The refused answer of an assignment and those waiting behind it; empty if none was refused. */
  private blocked(assignment: number): Entry[] {
    const all = this.entries.filter((e) => e.assignment === assignment)
    const first = all.findIndex((e) => e.refused)
    return first < 0 ? [] : all.slice(first)
  }

  /** Answers not yet stored by the server, oldest first, including refused ones. */
  get unsent(): readonly Entry[] {
    return this.entries
  }

  /** Send at once, because the network is back or the person has signed in. */
  readonly retry = (): void => {
    this.failures = this.notBefore = 0
    void this.flush()
  }

  close(): void {
    this.closed = true
    clearTimeout(this.timer)
    globalThis.removeEventListener?.('online', this.retry)
    this.channel?.close()
  }

  /** Send all waiting answers; one flush at a time. */
  flush(): Promise<void> {
    clearTimeout(this.timer)
    const wait = this.notBefore - Date.now()
    if (wait > 0) {
      this.timer = setTimeout(() => void this.flush(), wait)
      return Promise.resolve()
    }
    if (this.running) this.again = true
    this.running ??= this.underLock().finally(() => {
      this.running = null
      if (this.again && !this.closed) {
        this.again = false
        if (this.next()) void this.flush()
      }
    })
    return this.running
  }

  private async underLock(): Promise<void> {
    // Web Locks exist on secure origins only. Without them two tabs can send an answer twice, which the server
    // detects as a repetition.
    const locks = globalThis.navigator?.locks
    if (!locks) return this.sendAll()
    await locks.request(`${CHANNEL}-${this.options.user}`, () => this.sendAll())
  }

  private async sendAll(): Promise<void> {
    // Another tab may have sent answers while this one waited for the lock.
    if (globalThis.navigator?.locks) await this.reload()
    for (let entry = this.next(); entry && !this.closed; entry = this.next()) {
      this.tell({ sending: true })
      try {
        const reply = await this.options.put(entry.uuid, entry.body)
        this.failures = 0
        await this.finish(entry, reply)
      } catch (error) {
        if (!(await this.failed(entry, error))) break
      }
    }
    this.tell({ sending: false })
  }

  /** The oldest waiting answer without an earlier refused one of the same assignment. */
  private next(): Entry | undefined {
    const blocked = new Set<number>()
    for (const entry of this.entries) {
      if (entry.refused) blocked.add(entry.assignment)
      else if (!blocked.has(entry.assignment)) return entry
    }
    return undefined
  }

  private async finish(entry: Entry, reply: Reply): Promise<void> {
    await write(['outbox'], (tx) => void tx.objectStore('outbox').delete(entry.seq!) as undefined)
    this.entries = this.entries.filter((e) => e.seq !== entry.seq)
    this.tell({ hindrance: 'none', savedAt: new Date() })
    this.publish({ type: 'stored', entry, reply })
  }

  /** Handle a failed attempt; return whether the next answer can be sent. */
  private async failed(entry: Entry, error: unknown): Promise<boolean> {
    const problem = error instanceof Problem ? error : null
    if (error instanceof Unauthenticated) {
      this.tell({ hindrance: 'signed-out' })
      return false
    }
    const passes = !problem || problem.status >= 500 || problem.status === 429 || problem.status === 408 || problem.kind === 'csrf'
    if (passes) {
      if (!(error instanceof Offline) && !problem) console.error(error)
      const asked = problem?.status === 429 ? problem.retryAfter : null
      this.tell({ hindrance: asked === null ? 'offline' : 'too-fast' })
      // Wait slightly longer than the server asks, with jitter, so that clients do not retry at the same time.
      const wait = asked === null ? (this.options.backOff ?? backOff)(this.failures++) : asked * 1000 * (1 + Math.random() / 10)
      if (asked !== null) this.notBefore = Date.now() + wait
      this.timer = setTimeout(() => void this.flush(), wait)
      return false
    }
    const refused: Refusal = {
      status: problem.status, kind: problem.kind, detail: problem.detail, errors: problem.errors, current: problem.extra.current ?? null,
    }
    const refusedEntry = { ...entry, refused }
    await write(['outbox'], (tx) => void tx.objectStore('outbox').put(refusedEntry) as undefined)
    this.entries = this.entries.map((e) => (e.seq === entry.seq ? refusedEntry : e))
    this.tell({ hindrance: 'none' })
    this.publish({ type: 'refused', entry: refusedEntry })
    return true
  }

  private publish(event: OutboxEvent): void {
    this.channel?.postMessage({ user: this.options.user, event })
    this.options.onEvent(event)
  }

  private async receive({ user, event }: { user: number; event: OutboxEvent }): Promise<void> {
    if (user !== this.options.user || this.closed) return
    const isOwn = this.entries.some((e) => e.uuid === event.entry.uuid)
    await this.reload()
    if (event.type === 'stored' && isOwn) this.tell({ hindrance: 'none', savedAt: new Date() })
    if (isOwn) this.options.onEvent(event)
  }

  private async reload(): Promise<void> {
    this.entries = (await read('outbox', (s) => s.index('user').getAll(this.options.user))) as Entry[]
    this.tell()
  }

  private tell(change: Partial<OutboxState> = {}): void {
    const refused = this.entries.filter((e) => e.refused).length
    this.state = { ...this.state, ...change, refused, waiting: this.entries.length - refused }
    if (!this.closed) this.options.onState(this.state)
  }
}

/** 1, 2, 4 ... 30 seconds with jitter, so that many clients do not retry at the same time. */
function backOff(failures: number): number {
  return Math.min(30_000, 1000 * 2 ** failures) * (0.75 + Math.random() / 2)
}

/** A random UUID, also on insecure origins. */
export function newUuid(): string {
  if (crypto.randomUUID) return crypto.randomUUID()
  const b = crypto.getRandomValues(new Uint8Array(16))
  b[6] = (b[6]! & 0x0f) | 0x40
  b[8] = (b[8]! & 0x3f) | 0x80
  const hex = [...b].map((x) => x.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
