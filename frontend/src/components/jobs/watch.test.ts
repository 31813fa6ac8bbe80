// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Offline, Problem } from '../../api/client.ts'
import { pause, watch, type Job } from './watch.ts'

const job = (status: Job['status'], done = 0): Job => ({ id: 7, status, done, total: 10 }) as Job
let hidden = false

beforeEach(() => {
  vi.useFakeTimers()
  hidden = false
  Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden })
})
afterEach(() => vi.useRealTimers())

function turn(to: boolean) {
  hidden = to
  document.dispatchEvent(new Event('visibilitychange'))
}

it('looks less and less often, and never less than every five seconds', () => {
  expect(pause(0)).toBe(400)
  expect(pause(3)).toBeGreaterThan(pause(2))
  expect(pause(50)).toBe(5000)
})

it('follows a job until it has ended, and no further', async () => {
  const replies = [job('queued'), job('running', 5), job('done', 10)]
  const look = vi.fn(() => Promise.resolve(replies[Math.min(look.mock.calls.length - 1, 2)]!))
  const seen: string[] = []
  watch(7, { onjob: (j) => seen.push(j.status), onlost: () => {}, onerror: () => {}, look })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(seen).toEqual(['queued', 'running', 'done'])
  expect(look).toHaveBeenCalledTimes(3)
})

it('does not ask while the page is hidden, and asks at once when it is shown again', async () => {
  const look = vi.fn(() => Promise.resolve(job('running')))
  const stop = watch(7, { onjob: () => {}, onlost: () => {}, onerror: () => {}, look })
  await vi.advanceTimersByTimeAsync(10)
  turn(true)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(look).toHaveBeenCalledTimes(1)
  turn(false)
  await vi.advanceTimersByTimeAsync(10)
  expect(look).toHaveBeenCalledTimes(2)
  stop()
})

it('goes on after a failed connection and gives up on a refusal', async () => {
  const replies: (() => Promise<Job>)[] = [
    () => Promise.reject(new Offline()),
    () => Promise.reject(new Problem(404, { detail: 'nothing here' })),
  ]
  const look = vi.fn(() => replies[look.mock.calls.length - 1]!())
  const lost = vi.fn()
  const refused = vi.fn()
  watch(7, { onjob: () => {}, onlost: lost, onerror: refused, look })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(lost).toHaveBeenCalledTimes(1)
  expect(refused).toHaveBeenCalledTimes(1)
  expect(look).toHaveBeenCalledTimes(2)
})
