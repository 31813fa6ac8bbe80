/** The part of the queue that the page has loaded, and the open unit. Pure functions. */

import type { Schemas } from '../../api/client.ts'

export type Row = Schemas['QueueRow']

export interface Queue {
  readonly rows: readonly Row[]
  /** The open unit; null at the end of the queue. */
  readonly open: number | null
  /** Units decided or skipped on this page. */
  readonly done: ReadonlyMap<number, 'decided' | 'skipped'>
}

export const emptyQueue: Queue = { rows: [], open: null, done: new Map() }

/** Append rows from the server; known rows are not repeated. */
export function received(queue: Queue, rows: readonly Row[]): Queue {
  const known = new Set(queue.rows.map((r) => r.unit))
  return { ...queue, rows: [...queue.rows, ...rows.filter((r) => !known.has(r.unit))] }
}

/** The first row after the open one that is neither decided nor skipped. */
export function following(queue: Queue, after: number | null = queue.open): Row | null {
  const at = queue.rows.findIndex((r) => r.unit === after)
  return queue.rows.slice(at + 1).find((r) => !queue.done.has(r.unit)) ?? null
}

export function opened(queue: Queue, unit: number | null): Queue {
  return { ...queue, open: unit }
}

/** Mark the open unit as decided or skipped and open the next one. */
export function passed(queue: Queue, how: 'decided' | 'skipped'): Queue {
  if (queue.open === null) return queue
  const done = new Map(queue.done).set(queue.open, how)
  const next = { ...queue, done }
  return opened(next, following(next)?.unit ?? null)
}

/** Whether somebody else decided the unit after the queue was loaded. */
export function overtaken(row: Pick<Row, 'contested' | 'flagged'>, now: { readonly contested: readonly unknown[]; readonly flagged: boolean }): boolean {
  return (row.contested.length > 0 || row.flagged) && !now.contested.length && !now.flagged
}

/** Return a unit to the queue and open it. */
export function returned(queue: Queue, unit: number): Queue {
  const done = new Map(queue.done)
  done.delete(unit)
  return { ...queue, done, open: unit }
}

/** Remove decided units, as the server has done. */
export function waitingAgain(queue: Queue): Queue {
  return { rows: queue.rows.filter((r) => queue.done.get(r.unit) !== 'decided'), open: null, done: new Map() }
}
