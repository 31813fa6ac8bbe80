/** The units that wait, as far as the page has them, and which one is open. Pure. */

import type { Schemas } from '../api/client.ts'

export type Row = Schemas['QueueRow']

export interface Line {
  readonly rows: readonly Row[]
  /** The unit that is open; null at the end. */
  readonly open: number | null
  /** Units that were decided or skipped on this page. */
  readonly done: ReadonlyMap<number, 'decided' | 'skipped'>
}

export const noLine: Line = { rows: [], open: null, done: new Map() }

/** More rows from the server, after those that are there; known ones are not repeated. */
export function received(line: Line, rows: readonly Row[]): Line {
  const known = new Set(line.rows.map((r) => r.unit))
  return { ...line, rows: [...line.rows, ...rows.filter((r) => !known.has(r.unit))] }
}

/** The first row after the open one of which nothing was said yet. */
export function following(line: Line, after: number | null = line.open): Row | null {
  const at = line.rows.findIndex((r) => r.unit === after)
  return line.rows.slice(at + 1).find((r) => !line.done.has(r.unit)) ?? null
}

export function opened(line: Line, unit: number | null): Line {
  return { ...line, open: unit }
}

/** The open unit is decided or skipped: the next one opens. */
export function passed(line: Line, how: 'decided' | 'skipped'): Line {
  if (line.open === null) return line
  const done = new Map(line.done).set(line.open, how)
  const next = { ...line, done }
  return opened(next, following(next)?.unit ?? null)
}

/** Whether a row that waited, when the line was asked for, waits no more: somebody else has decided it. */
export function overtaken(row: Pick<Row, 'contested' | 'flagged'>, now: { readonly contested: readonly unknown[]; readonly flagged: boolean }): boolean {
  return (row.contested.length > 0 || row.flagged) && !now.contested.length && !now.flagged
}

/** Back at a unit: it waits again. */
export function returned(line: Line, unit: number): Line {
  const done = new Map(line.done)
  done.delete(unit)
  return { ...line, done, open: unit }
}

/** What was decided leaves the line, as it left the server's. */
export function waitingAgain(line: Line): Line {
  return { rows: line.rows.filter((r) => line.done.get(r.unit) !== 'decided'), open: null, done: new Map() }
}
