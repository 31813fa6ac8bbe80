/** How far runs are, in words. */

import type { Schemas } from '../api/client.ts'
import { count, duration } from './format.ts'

export type Progress = Schemas['RunProgress']
export type Run = Schemas['Run']
export const LEVELS: Record<Schemas['UnitLevelEnum'], string> = { document: 'reviews', sentence: 'target sentences', proposition: 'clusters' }

/** The state in two or three words; counts are null where the run is hidden from whoever looks. */
export function stateOf({ state, failed }: Pick<Progress, 'state' | 'failed'>): string {
  if (state === 'done') return failed ? `ended, ${count(failed)} failed` : 'complete'
  return state
}

/** Whether nothing will change by itself: what a worker has in hand when a run is stopped is stored yet. */
export function ended(run: { status: Run['status']; progress: Pick<Progress, 'state'> }): boolean {
  return run.status !== 'running' && run.progress.state !== 'stopping'
}

/** Whether somebody has to do something about it. */
export function amiss(p: Pick<Progress, 'state' | 'error'>): boolean {
  return p.state === 'stalled' || p.state === 'waiting for a worker' || p.error !== ''
}

/** What a lead can do with it. */
export function stepOf(run: Pick<Run, 'status' | 'progress'>): { what: 'stop' | 'resume' | 'retry'; label: string } | null {
  if (run.status === 'running') return { what: 'stop', label: 'Stop it' }
  if (run.status === 'stopped') return { what: 'resume', label: 'Resume it' }
  return run.progress.failed ? { what: 'retry', label: 'Retry the failed' } : null
}

/** "12 / min", "1.5 / s": short, so that it never takes a second line. */
export function paceOf(p: Pick<Progress, 'pace'>): string {
  if (p.pace === null) return '–'
  const say = (n: number) => (n >= 10 ? count(Math.round(n)) : n.toFixed(1))
  return p.pace >= 120 ? `${say(p.pace / 60)} / s` : `${say(p.pace)} / min`
}

export function leftOf(p: Pick<Progress, 'seconds_left'>): string {
  return p.seconds_left === null ? '–' : p.seconds_left < 1 ? '< 1 s' : duration(p.seconds_left)
}

/** What a screen reader is told while it goes on: the state, and every quarter. */
export function announced(p: Progress): string {
  if (p.done === null || p.failed === null) return stateOf(p)
  if (p.state !== 'running') return `${stateOf(p)}, ${count(p.done)} of ${count(p.total)} done`
  const quarter = p.total ? Math.floor((4 * (p.done + p.failed)) / p.total) * 25 : 0
  return `running, ${quarter} % done`
}

/** Why a text ends where it does. */
export function finishOf(finish: string): string {
  return { complete: 'complete', length: 'cut off at the longest allowed', unknown: 'not known whether complete' }[finish] ?? finish
}
