/** State and progress of runs, in words. */

import type { Schemas } from '../../api/client.ts'
import { count, duration } from '../format.ts'
import type { ChipState } from '../StateChip.svelte'

export type Progress = Schemas['RunProgress']
export type Run = Schemas['Run']
export const LEVELS: Record<Schemas['UnitLevelEnum'], string> = { document: 'documents', sentence: 'target sentences', proposition: 'clusters', pair: 'pairs', answer: 'passages', question: 'questions' }

/** The state in two or three words; counts are null if the run is hidden from the user. */
export function stateOf({ state, failed }: Pick<Progress, 'state' | 'failed'>): string {
  if (state === 'done') return failed ? `ended, ${count(failed)} failed` : 'complete'
  return state
}

/** The state chip of a run: done, in progress, or waiting for an action. */
export function chipOf(p: Pick<Progress, 'state' | 'failed' | 'error'>): ChipState {
  if (p.state === 'done') return p.failed ? 'failed' : 'done'
  if (p.state === 'stopped') return p.error ? 'failed' : 'cancelled'
  return amiss(p) ? 'quiet' : 'open'
}

/** Whether the run has ended. A stopped run still stores its current batch. */
export function isEnded(run: { status: Run['status']; progress: Pick<Progress, 'state'> }): boolean {
  return run.status !== 'running' && run.progress.state !== 'stopping'
}

/** Whether the run needs attention. */
export function amiss(p: Pick<Progress, 'state' | 'error'>): boolean {
  return p.state === 'stalled' || p.state === 'waiting for a worker' || p.error !== ''
}

/** The next action of a lead. */
export function stepOf(run: Pick<Run, 'status' | 'progress'>): { what: 'stop' | 'resume' | 'retry'; label: string } | null {
  if (run.status === 'running') return { what: 'stop', label: 'Stop' }
  if (run.status === 'stopped') return { what: 'resume', label: 'Resume' }
  return run.progress.failed ? { what: 'retry', label: 'Retry failed' } : null
}

/** "12 / min", "1.5 / s": short enough for one line. */
export function paceOf(p: Pick<Progress, 'pace'>): string {
  if (p.pace === null) return '–'
  const inWords = (n: number) => (n >= 10 ? count(Math.round(n)) : n.toFixed(1))
  return p.pace >= 120 ? `${inWords(p.pace / 60)} / s` : `${inWords(p.pace)} / min`
}

export function leftOf(p: Pick<Progress, 'seconds_left'>): string {
  return p.seconds_left === null ? '–' : p.seconds_left < 1 ? '< 1 s' : duration(p.seconds_left)
}

/** Progress for screen readers: the state, and every quarter. */
export function announced(p: Progress): string {
  if (p.done === null || p.failed === null) return stateOf(p)
  if (p.state !== 'running') return `${stateOf(p)}, ${count(p.done)} of ${count(p.total)} done`
  const quarter = p.total ? Math.floor((4 * (p.done + p.failed)) / p.total) * 25 : 0
  return `running, ${quarter}% done`
}

/** Why a text ends where it does. */
export function finishOf(finish: string): string {
  return { complete: 'complete', length: 'cut off at the maximum length', unknown: 'completeness unknown' }[finish] ?? finish
}
