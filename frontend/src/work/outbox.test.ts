import 'fake-indexeddb/auto'
import { IDBFactory } from 'fake-indexeddb'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Offline, Problem, Unauthenticated } from '../api/client.ts'
import { newUuid, Outbox, type Entry, type OutboxEvent, type OutboxState, type Reply } from './outbox.ts'
import { close, StorageFull } from './store.ts'

const reply = (assignment: number): Reply => ({
  answer: { uuid: '', assignment, revision: 1, outcome: 'answered', received_at: '', counted: true }, held: [], fetched: [], feedback: null,
})
const entry = (assignment: number, body = `{"a":${assignment}}`) => ({
  uuid: newUuid(), round: 1, assignment, body, card: { assignment } as Entry['card'],
})
const problem = (status: number, type: string, more = {}) => new Problem(status, { type: `/problems/${type}`, detail: type, ...more })

/** A server that answers what it is told to, and keeps what it got. */
class Server {
  got: [string, string][] = []
  next: (Error | undefined)[] = []
  put = async (uuid: string, body: string): Promise<Reply> => {
    const fault = this.next.shift()
    if (fault) throw fault
    this.got.push([uuid, body])
    return reply((JSON.parse(body) as { a: number }).a)
  }
}

let server: Server
let boxes: Outbox[] = []

function outbox(user = 1, backOff = () => 5) {
  const states: OutboxState[] = [], events: OutboxEvent[] = []
  const box = new Outbox({ user, put: server.put, onState: (s) => states.push(s), onEvent: (e) => events.push(e), backOff })
  boxes.push(box)
  return { box, states, events, last: () => states.at(-1)! }
}
const settled = (check: () => void) => vi.waitFor(check, { timeout: 2000, interval: 5 })

beforeEach(async () => {
  await close()
  globalThis.indexedDB = new IDBFactory()
  server = new Server()
  boxes = []
})
afterEach(() => boxes.forEach((b) => b.close()))

describe('outbox', () => {
  it('keeps the exact bytes first, sends them, and forgets them when they are stored', async () => {
    const { box, events, last } = outbox()
    await box.start()
    const e = entry(5, '{"a": 5,  "text": "𝛽"}')
    await box.add(e)
    await settled(() => expect(server.got).toEqual([[e.uuid, e.body]]))
    await settled(() => expect(last()).toMatchObject({ waiting: 0, hindrance: 'none', sending: false }))
    expect(last().savedAt).toBeInstanceOf(Date)
    expect(events.map((v) => v.type)).toEqual(['stored'])
  })

  it('counts what is not sent through a 500, a lost network and a reload, and then sends each once, in order', async () => {
    const first = outbox(1, () => 60_000)
    await first.box.start()
    server.next = [problem(500, ''), new Offline()]
    const a = entry(1), b = entry(2)
    await first.box.add(a)
    await settled(() => expect(first.last()).toMatchObject({ waiting: 1, hindrance: 'offline' }))
    await first.box.add(b)
    await settled(() => expect(first.last()).toMatchObject({ waiting: 2, hindrance: 'offline', sending: false }))
    first.box.close()
    await close()
    const second = outbox()
    expect((await second.box.start()).map((e) => e.uuid)).toEqual([a.uuid, b.uuid])
    await settled(() => expect(second.last().waiting).toBe(0))
    expect(server.got).toEqual([[a.uuid, a.body], [b.uuid, b.body]])
  })

  it('tries again by itself after a failure', async () => {
    const { box, last } = outbox()
    await box.start()
    server.next = [problem(503, 'unavailable'), problem(429, 'too-many-requests'), new Offline()]
    await box.add(entry(1))
    await settled(() => expect(last()).toMatchObject({ waiting: 0, hindrance: 'none' }))
    expect(server.got).toHaveLength(1)
  })

  it('waits as long as the server asks for, says so calmly, and then sends everything once', async () => {
    const { box, last } = outbox()
    await box.start()
    server.next = [Object.assign(problem(429, 'too-much'), { retryAfter: 0.4 })]
    await box.add(entry(1))
    await settled(() => expect(last()).toMatchObject({ waiting: 1, hindrance: 'too-fast', sending: false }))
    await box.add(entry(2))
    expect(server.got).toHaveLength(0)
    await settled(() => expect(last()).toMatchObject({ waiting: 0, hindrance: 'none' }))
    expect(server.got).toHaveLength(2)
  })

  it('keeps everything while nobody is signed in, and sends it after signing in', async () => {
    const { box, last } = outbox()
    await box.start()
    server.next = [new Unauthenticated(401, {})]
    await box.add(entry(1))
    await settled(() => expect(last()).toMatchObject({ waiting: 1, hindrance: 'signed-out', sending: false }))
    box.retry()
    await settled(() => expect(last()).toMatchObject({ waiting: 0, hindrance: 'none' }))
  })

  it('keeps a refused answer with its reason, sends the others, and holds back what follows on the same unit', async () => {
    const { box, events, last } = outbox()
    await box.start()
    server.next = [problem(409, 'stale-revision', { current: { revision: 4 } })]
    const a = entry(1, '{"a":1,"n":0}'), later = entry(1, '{"a":1,"n":1}'), other = entry(2)
    await Promise.all([box.add(a), box.add(later), box.add(other)])
    await settled(() => expect(server.got.map(([u]) => u)).toEqual([other.uuid]))
    await settled(() => expect(last()).toMatchObject({ refused: 1, waiting: 1 }))
    const refused = events.find((e) => e.type === 'refused')!.entry.refused
    expect(refused).toMatchObject({ status: 409, kind: 'stale-revision', current: { revision: 4 } })
    const corrected = entry(1, '{"a":1,"n":2}')
    await box.add(corrected)
    await settled(() => expect(last()).toMatchObject({ refused: 0, waiting: 0 }))
    expect(server.got.map(([u]) => u)).toEqual([other.uuid, corrected.uuid])
  })

  it('shows a refused answer again after a reload and lets it go only on the word of the person', async () => {
    const first = outbox()
    await first.box.start()
    server.next = [problem(422, 'refused', { errors: [{ field: 'value', message: 'No.' }] })]
    await first.box.add(entry(9))
    await settled(() => expect(first.last().refused).toBe(1))
    first.box.close()
    await close()
    const second = outbox()
    const [kept] = await second.box.start()
    expect(kept!.refused!.errors).toEqual([{ field: 'value', message: 'No.' }])
    expect(kept!.card.assignment).toBe(9)
    expect(server.got).toEqual([])
    await second.box.discard(9)
    expect(second.box.unsent).toEqual([])
  })

  it('keeps the answers of each person apart', async () => {
    const first = outbox(1, () => 60_000)
    await first.box.start()
    server.next = [new Offline()]
    await first.box.add(entry(1))
    const second = outbox(2)
    expect(await second.box.start()).toEqual([])
  })

  it('says so when the storage is full, and keeps and sends nothing', async () => {
    const { box, last } = outbox()
    await box.start()
    const spy = vi.spyOn(IDBObjectStore.prototype, 'add').mockImplementation(() => {
      throw new DOMException('full', 'QuotaExceededError')
    })
    await expect(box.add(entry(1))).rejects.toBeInstanceOf(StorageFull)
    spy.mockRestore()
    expect(last().waiting).toBe(0)
    expect(server.got).toEqual([])
  })

  it('makes UUIDs also where the page is not on a secure origin', () => {
    const original = crypto.randomUUID
    Object.defineProperty(crypto, 'randomUUID', { value: undefined, configurable: true })
    expect(newUuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    Object.defineProperty(crypto, 'randomUUID', { value: original, configurable: true })
  })
})
