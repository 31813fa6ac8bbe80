/** Settings of a page, stored in its query string: a link or a reload shows the same. */

/** A parameter of the query string, or empty. */
export function readParam(name: string): string {
  return new URLSearchParams(location.search).get(name) ?? ''
}

/** Write parameters without a new history entry; empty values are removed, other parameters stay. */
export function writeParams(values: Readonly<Record<string, string | number>>): void {
  const query = new URLSearchParams(location.search)
  for (const [name, value] of Object.entries(values)) {
    if (value === '') query.delete(name)
    else query.set(name, String(value))
  }
  // Commas need no escape in a query, and a list of numbers reads better with them.
  const text = query.toString().replaceAll('%2C', ',')
  history.replaceState(history.state, '', `${location.pathname}${text ? `?${text}` : ''}${location.hash}`)
}
