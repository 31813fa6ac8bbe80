/** What a page is set to show, kept in its address: it can be sent to somebody, loaded anew and come back to. */

/** What the address says under a name; empty where it says nothing. */
export function kept(name: string): string {
  return new URLSearchParams(location.search).get(name) ?? ''
}

/** Writes it into the address, in no new step of the history; what is empty is left out, what is not named stays. */
export function keep(values: Readonly<Record<string, string | number>>): void {
  const query = new URLSearchParams(location.search)
  for (const [name, value] of Object.entries(values)) {
    if (value === '') query.delete(name)
    else query.set(name, String(value))
  }
  // Commas need no escape in a query, and a list of numbers reads better with them.
  const text = query.toString().replaceAll('%2C', ',')
  history.replaceState(history.state, '', `${location.pathname}${text ? `?${text}` : ''}${location.hash}`)
}
