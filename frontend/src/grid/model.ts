/** State of a keyboard grid (current cell, selection, editing, changes) as a pure reducer. */

import { format } from './tsv.ts'

/** One column of rows `R`. A cell is text: `show` gives it for copying, and `put` accepts it again. */
export interface Column<R extends object> {
  readonly key: string
  readonly title: string
  readonly show: (row: R) => string
  /** The row with this text in the cell, or an error message. Left out for read-only columns. */
  readonly put?: (row: R, text: string) => R | string
  /** Keys that enter a value at once, in lower case. */
  readonly keys?: Readonly<Record<string, string>>
  /** Enter opens the editor of a kind instead of a field. */
  readonly opens?: boolean
  /** Whether the cell is text to read, not a value with a sign. */
  readonly reading?: boolean
  /** Suggestion that Enter puts into an empty cell, or empty. */
  readonly offer?: (row: R) => string
  /** Hint below the value. */
  readonly hint?: (row: R) => string
  /** Width in shares (default 1) or as a CSS width. */
  readonly wide?: number | string
}

/** Constant properties of a grid. */
export interface Facts<R extends object> {
  readonly columns: readonly Column<R>[]
  /** Create an empty row, if rows can be added. */
  readonly fresh?: () => R
  /** Whether single-letter keys are switched off: every letter then starts typing. */
  readonly lettersOff?: boolean
}

export interface Cell {
  readonly row: number
  readonly col: number
}

/** A cell that refused a text; the text is kept, so that no input is lost. */
export interface Fault extends Cell {
  readonly text: string
  readonly why: string
}

export interface State<R extends object> {
  readonly rows: readonly R[]
  readonly at: Cell
  /** The opposite corner of the selection if it has more than one cell. */
  readonly anchor: Cell | null
  /** Text being edited in the current cell, or null. */
  readonly editing: string | null
  readonly faults: readonly Fault[]
  /** Message about the last action, shown below the grid. */
  readonly said: string
  readonly trail: readonly (readonly R[])[]
}

export type Action<R extends object> =
  | { do: 'move'; rows: number; cols: number; extend: boolean }
  | { do: 'go'; row: number; col: number; extend: boolean }
  | { do: 'all' }
  | { do: 'type'; key: string }
  | { do: 'edit' }
  | { do: 'draft'; text: string }
  | { do: 'commit'; rows: number; cols: number }
  | { do: 'cancel' }
  | { do: 'clear' }
  | { do: 'fill' }
  | { do: 'paste'; cells: readonly (readonly string[])[] }
  | { do: 'row'; row: number; is: R }
  | { do: 'undo' }

export function begin<R extends object>(rows: readonly R[]): State<R> {
  return { rows, at: { row: 0, col: 0 }, anchor: null, editing: null, faults: [], said: '', trail: [] }
}

/** Bounds of the selection, half-open. */
export function range(state: Pick<State<object>, 'at' | 'anchor'>): { top: number; bottom: number; left: number; right: number } {
  const other = state.anchor ?? state.at
  return {
    top: Math.min(state.at.row, other.row),
    bottom: Math.max(state.at.row, other.row) + 1,
    left: Math.min(state.at.col, other.col),
    right: Math.max(state.at.col, other.col) + 1,
  }
}

export function isSelected(state: Pick<State<object>, 'at' | 'anchor'>, row: number, col: number): boolean {
  const r = range(state)
  return row >= r.top && row < r.bottom && col >= r.left && col < r.right
}

/** The selection in spreadsheet format. */
export function copied<R extends object>(f: Facts<R>, state: State<R>): string {
  const r = range(state)
  return format(state.rows.slice(r.top, r.bottom).map((row) => f.columns.slice(r.left, r.right).map((c) => c.show(row))))
}

export function reduce<R extends object>(f: Facts<R>, state: State<R>, action: Action<R>): State<R> {
  const { at } = state
  const column = f.columns[at.col]!
  switch (action.do) {
    case 'move':
      return to(f, state, at.row + action.rows, at.col + action.cols, action.extend)
    case 'go':
      return to(f, state, action.row, action.col, action.extend)
    case 'all':
      return { ...state, anchor: { row: 0, col: 0 }, at: { row: state.rows.length - 1, col: f.columns.length - 1 } }
    case 'type': {
      const value = f.lettersOff ? undefined : column.keys?.[action.key.toLowerCase()]
      if (value !== undefined) return write(f, state, selectedCells(f, state, () => value, column), '')
      const types = column.keys ? f.lettersOff : !column.opens
      return column.put && types ? { ...state, anchor: null, editing: action.key } : state
    }
    case 'edit': {
      const row = state.rows[at.row]!
      const offer = column.show(row) ? '' : (column.offer?.(row) ?? '')
      if (offer) return write(f, state, [{ ...at, text: offer }], '')
      return column.put && !column.opens ? { ...state, anchor: null, editing: column.show(row) } : state
    }
    case 'draft':
      return state.editing === null ? state : { ...state, editing: action.text }
    case 'commit': {
      if (state.editing === null) return state
      const after = write(f, { ...state, editing: null }, [{ ...at, text: state.editing }], '')
      return after.faults.some((x) => isAt(x, at)) ? after : { ...to(f, after, at.row + action.rows, at.col + action.cols, false), said: after.said }
    }
    case 'cancel':
      return state.editing !== null ? { ...state, editing: null } : { ...state, anchor: null, said: '' }
    case 'clear':
      return write(f, state, selectedCells(f, state, () => ''), 'emptied')
    case 'fill':
      return filled(f, state)
    case 'paste':
      return paste(f, state, action.cells)
    case 'row':
      return changed(f, state, state.rows.map((r, i) => (i === action.row ? action.is : r)), [], '')
    case 'undo': {
      const rows = state.trail.at(-1)
      if (!rows) return { ...state, said: 'Nothing to undo.' }
      return { ...to(f, { ...state, rows }, at.row, at.col, false), faults: [], trail: state.trail.slice(0, -1), said: 'Undone.' }
    }
  }
}

/** Replace the rows by others (from the server or a draft). The current cell stays, the undo history is cleared. */
export function renew<R extends object>(f: Facts<R>, state: State<R>, rows: readonly R[]): State<R> {
  return { ...to(f, { ...state, rows, trail: [], faults: [] }, state.at.row, state.at.col, false), editing: null }
}

function to<R extends object>(f: Facts<R>, state: State<R>, row: number, col: number, extend: boolean): State<R> {
  const at = {
    row: Math.max(0, Math.min(row, state.rows.length - 1)),
    col: Math.max(0, Math.min(col, f.columns.length - 1)),
  }
  const anchor = extend ? (state.anchor ?? state.at) : null
  return { ...state, at, anchor: anchor && isAt(anchor, at) ? null : anchor, said: '' }
}

function isAt(a: Cell, b: Cell): boolean {
  return a.row === b.row && a.col === b.col
}

interface Writing extends Cell {
  text: string
}

/** The selected editable cells with their new text; with `like`, only those of this column. */
function selectedCells<R extends object>(f: Facts<R>, state: State<R>, text: (cell: Cell) => string, like?: Column<R>): Writing[] {
  const r = range(state)
  const cells: Writing[] = []
  for (let row = r.top; row < r.bottom; row++)
    for (let col = r.left; col < r.right; col++)
      if (f.columns[col]!.put && (!like || f.columns[col] === like)) cells.push({ row, col, text: text({ row, col }) })
  return cells
}

function filled<R extends object>(f: Facts<R>, state: State<R>): State<R> {
  const r = range(state)
  // With one row selected, fill from the row above, as spreadsheets do.
  const from = r.bottom - r.top > 1 ? r.top : r.top - 1
  if (from < 0) return { ...state, said: 'No row above to fill from.' }
  const cells = selectedCells(f, state, (cell) => f.columns[cell.col]!.show(state.rows[from]!)).filter((c) => c.row > from)
  return write(f, state, cells, 'filled down')
}

function paste<R extends object>(f: Facts<R>, state: State<R>, cells: readonly (readonly string[])[]): State<R> {
  if (!cells.length) return { ...state, said: 'The clipboard has no text.' }
  const r = range(state)
  // A single cell is pasted into all selected cells.
  if (cells.length === 1 && cells[0]!.length === 1) return write(f, state, selectedCells(f, state, () => cells[0]![0]!), 'pasted')
  const rows = [...state.rows]
  while (f.fresh && rows.length < r.top + cells.length) rows.push(f.fresh())
  const wide = Math.max(...cells.map((c) => c.length))
  const fits = { rows: Math.min(cells.length, rows.length - r.top), cols: Math.min(wide, f.columns.length - r.left) }
  const writing = cells.slice(0, fits.rows).flatMap((line, i) => line.slice(0, fits.cols).map((text, j) => ({ row: r.top + i, col: r.left + j, text })))
  // A read-only cell accepts its own text, because people copy whole blocks and change one column.
  const able = writing.filter((c) => f.columns[c.col]!.put || f.columns[c.col]!.show(rows[c.row]!) !== c.text)
  const outside = [
    cells.length > fits.rows ? counted(cells.length - fits.rows, 'row') : '',
    wide > fits.cols ? counted(wide - fits.cols, 'column') : '',
  ].filter(Boolean)
  const after = write(f, { ...state, rows }, able, 'pasted', state.rows)
  const left = outside.length ? ` Left out, outside the grid: ${outside.join(', ')}.` : ''
  const corner = { row: r.top + fits.rows - 1, col: r.left + fits.cols - 1 }
  return { ...after, at: { row: r.top, col: r.left }, anchor: corner.row === r.top && corner.col === r.left ? null : corner, said: after.said + left }
}

export function counted(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`
}

/** Write cells in order. Cells that refuse keep their text and are reported. */
function write<R extends object>(f: Facts<R>, state: State<R>, cells: readonly Writing[], verb: string, before = state.rows): State<R> {
  const rows = [...state.rows]
  const faults: Fault[] = []
  let done = 0
  for (const { row, col, text } of cells) {
    const column = f.columns[col]!
    const is = column.put ? column.put(rows[row]!, text) : 'This cell is read-only.'
    if (typeof is === 'string') faults.push({ row, col, text, why: is })
    else {
      rows[row] = is
      done++
    }
  }
  const said = [
    verb && (done || !faults.length) ? `${counted(done, 'cell')} ${verb}.` : '',
    faults.length ? `${counted(faults.length, 'cell')} not changed.` : '',
  ].filter(Boolean).join(' ')
  const touched = (x: Fault) => cells.some((c) => isAt(c, x))
  return changed(f, { ...state, rows: before }, rows, [...state.faults.filter((x) => !touched(x)), ...faults], said)
}

/** The state with other rows, as an undo step. */
function changed<R extends object>(f: Facts<R>, state: State<R>, rows: readonly R[], faults: readonly Fault[], said: string): State<R> {
  const grown = f.fresh && rows.length && !isEmpty(f, rows.at(-1)!) ? [...rows, f.fresh()] : rows
  const other = grown.length !== state.rows.length || grown.some((r, i) => r !== state.rows[i])
  return { ...state, rows: grown, faults, said, trail: other ? [...state.trail, state.rows] : state.trail }
}

export function isEmpty<R extends object>(f: Facts<R>, row: R): boolean {
  return f.columns.every((c) => !c.show(row))
}
