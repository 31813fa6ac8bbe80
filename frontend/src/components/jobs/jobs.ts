/** A background job in words. */

import { count, duration, moment } from '../format.ts'
import type { Job } from './watch.ts'

/** "BERTScore stopped at 180 of 381" */
export function failureOf(job: Pick<Job, 'done' | 'total'>, title: string): string {
  return job.done && job.total ? `${title} stopped at ${count(job.done)} of ${count(job.total)}` : `${title} failed`
}

/** "Job 212, started 25 Nov 2026, 13:41 by Lea Lead." */
export function originOf(job: Pick<Job, 'id' | 'started_at' | 'created_at' | 'by'>): string {
  return `Job ${job.id}, started ${moment(job.started_at ?? job.created_at)}${job.by ? ` by ${job.by}` : ''}.`
}

/** "120 / min · 1 min left · started 25 Nov 2026, 13:41 by Lea Lead"; a space before the first reply, which keeps the line. */
export function factsOf(job: Job | null): string {
  if (!job) return '\u00a0'
  const rate = job.rate === null ? '' : job.rate >= 120 * 60 ? `${count(Math.round(job.rate / 60))} / s` : `${job.rate >= 10 ? count(Math.round(job.rate)) : job.rate.toFixed(1)} / min`
  const left = job.seconds_left === null || job.stalled ? '' : job.seconds_left < 1 ? '< 1 s left' : `${duration(job.seconds_left)} left`
  const asked = `${job.started_at ? 'started' : 'requested'} ${moment(job.started_at ?? job.created_at)}${job.by ? ` by ${job.by}` : ''}`
  return [job.stalled ? '' : rate, left, asked].filter(Boolean).join(' · ')
}
