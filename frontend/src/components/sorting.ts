/** Sorting of list tables. */

export interface Column<T> {
  /** Names the column for the `cell` snippet and for sorting. */
  key: string
  title: string
  /** Value to sort by; a column without one is not sortable. `server`: the page loads the rows in this order. */
  value?: ((row: T) => string | number | null) | 'server'
  /** Numbers are aligned right; an action is the last cell; `full` takes a row of a phone's card. */
  type?: 'number' | 'action' | 'full'
  /** Show the title before the cell on a phone. */
  labelled?: boolean
  /** Leave the column out between the widths of a phone and a wide screen, where not all columns fit. */
  wide?: boolean
}

export interface Sort {
  key: string
  descending: boolean
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

/** Rows sorted by a column, equal rows in their given order. Rows without a value come last in both directions. */
export function sorted<T>(rows: readonly T[], columns: readonly Column<T>[], sort: Sort): T[] {
  const value = columns.find((c) => c.key === sort.key)?.value
  if (typeof value !== 'function') return [...rows]
  const sign = sort.descending ? -1 : 1
  return rows.toSorted((a, b) => {
    const [x, y] = [value(a), value(b)]
    if (x === null || y === null) return Number(x === null) - Number(y === null)
    return sign * (typeof x === 'number' && typeof y === 'number' ? x - y : collator.compare(String(x), String(y)))
  })
}

/** Whether every typed word occurs in the text, ignoring case. */
export function matches(typed: string, ...texts: readonly (string | null | undefined)[]): boolean {
  const text = texts.join(' ').toLowerCase()
  return typed.toLowerCase().split(/\s+/).every((word) => text.includes(word))
}
