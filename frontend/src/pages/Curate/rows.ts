/** Rows of the curate page: a unit with the working value of each kind. */

import type { FieldError } from '../../api/client.ts'
import type { Column } from '../../grid/model.ts'
import type { AnyColumns, CellState } from '../../kinds/columns.ts'

export interface Row<U> {
  readonly unit: U
  /** Working value by kind. */
  readonly said: Readonly<Record<string, object>>
}

/** Key of the cells of one unit and kind. */
export const keyOf = (unit: number, kind: string): string => `${unit} ${kind}`

/** A working value that differs from the current value. */
export interface Change {
  readonly key: string
  readonly unit: number
  readonly kind: string
  /** In words: "11129-1, input 2, label". */
  readonly where: string
  readonly said: object
  /** The missing part, or empty if the value is complete. */
  readonly lacks: string
  /** Whether a current value is replaced. */
  readonly replaces: boolean
  readonly words: string
  readonly value: () => unknown
}

/** Revision that a change is based on; the server refuses the change if it is outdated. */
export interface Basis {
  readonly shown: number
  readonly seen: number
}

export function begin<U>(unit: U, cells: readonly AnyColumns<U>[]): Row<U> {
  return { unit, said: Object.fromEntries(cells.map((c) => [c.kind, c.begin(unit) as object])) }
}

/** The row of a reloaded unit; `mine` are the unsaved values to keep, by kind. */
export function follow<U>(unit: U, cells: readonly AnyColumns<U>[], mine: Readonly<Record<string, object>>): Row<U> {
  return { unit, said: Object.fromEntries(cells.map((c) => [c.kind, (mine[c.kind] ? c.follow(mine[c.kind], unit) : c.begin(unit)) as object])) }
}

/** The columns of kinds as columns of rows. */
export function columnsOf<U>(cells: readonly AnyColumns<U>[]): Column<Row<U>>[] {
  return cells.flatMap((c) => c.columns.map((column): Column<Row<U>> => ({
    key: column.key,
    title: column.title,
    ...(column.keys ? { keys: column.keys } : {}),
    ...(column.opens ? { opens: true } : {}),
    ...(column.reading ? { reading: true } : {}),
    ...(column.wide ? { wide: column.wide } : {}),
    show: (row) => column.show(row.said[c.kind]),
    put: (row, text) => {
      const is: object | string = column.put!(row.said[c.kind], text)
      if (typeof is === 'string') return is
      return is === row.said[c.kind] ? row : { ...row, said: { ...row.said, [c.kind]: is } }
    },
    ...(column.offer ? { offer: (row: Row<U>) => column.offer!(row.said[c.kind]) } : {}),
    ...(column.hint ? { hint: (row: Row<U>) => column.hint!(row.said[c.kind]) } : {}),
  })))
}

/** Differences of a row from the current values. `place` names the row. */
export function changesOf<U extends { unit: number }>(row: Row<U>, cells: readonly AnyColumns<U>[], place: string): Change[] {
  return cells.flatMap((c) => {
    const said = row.said[c.kind]
    if (!said || c.same(said, c.begin(row.unit))) return []
    return [{
      key: keyOf(row.unit.unit, c.kind), unit: row.unit.unit, kind: c.kind, where: `${place}, ${c.kind}`, said,
      lacks: c.lacks(said), replaces: c.hasCurrentValue(row.unit), words: c.words(said), value: () => c.value(said),
    }]
  })
}

export function basisOf<U>(unit: U, cells: readonly AnyColumns<U>[], kind: string): Basis {
  const { shown, seen }: CellState = cells.find((c) => c.kind === kind)!.state(unit)
  return { shown, seen }
}

/** Why the server refused a change, and the path in its value. */
export interface Refusal {
  readonly why: string
  readonly path: string
}

/** Errors of a refused batch by change; those without a row under ''. */
export function refusals(errors: readonly FieldError[], sent: readonly Change[]): Record<string, Refusal> {
  const out: Record<string, Refusal> = {}
  for (const { field, message } of errors) {
    const row = /^rows\.(\d+)/.exec(field)?.[1]
    const key = row === undefined ? '' : (sent[Number(row)]?.key ?? '')
    const before = out[key]
    out[key] = before ? { ...before, why: `${before.why} ${message}` } : { why: message, path: field }
  }
  return out
}
