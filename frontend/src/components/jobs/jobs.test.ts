import { expect, it } from 'vitest'
import { factsOf, failureOf, originOf } from './jobs.ts'
import type { Job } from './watch.ts'

const job = (what: Partial<Job>) =>
  ({ id: 212, done: 180, total: 381, created_at: '2026-11-25T13:40:00', started_at: '2026-11-25T13:41:00', by: 'Lea Lead', rate: 120, seconds_left: 100, stalled: false, ...what }) as Job

it('says where a job stopped, and who started it', () => {
  expect(failureOf(job({}), 'BERTScore')).toBe('BERTScore stopped at 180 of 381')
  expect(failureOf(job({ done: 0, total: null }), 'The check')).toBe('The check failed')
  expect(originOf(job({}))).toBe('Job 212, started 25 Nov 2026, 13:41 by Lea Lead.')
  expect(originOf(job({ started_at: null, by: '' }))).toBe('Job 212, started 25 Nov 2026, 13:40.')
})

it('gives the rate and the time left of a job, if they are known', () => {
  expect(factsOf(job({}))).toBe('120 / min · 2 min left · started 25 Nov 2026, 13:41 by Lea Lead')
  expect(factsOf(job({ rate: 1.24, seconds_left: null }))).toBe('1.2 / min · started 25 Nov 2026, 13:41 by Lea Lead')
  expect(factsOf(job({ rate: 60_000, seconds_left: 0.2 }))).toMatch(/^1,000 \/ s · < 1 s left/)
  expect(factsOf(job({ stalled: true }))).toBe('started 25 Nov 2026, 13:41 by Lea Lead')
  expect(factsOf(job({ rate: null, seconds_left: null, started_at: null }))).toBe('requested 25 Nov 2026, 13:40 by Lea Lead')
  expect(factsOf(null)).toBe('\u00a0')
})
