/** Where the command palette leads: what there is to choose from, and what of it an entry means. */

export interface Place {
  readonly href: string
  readonly name: string
  /** What it is, in a word or two. */
  readonly sort: string
}

const MOST = 12

/** Places that have every word that was typed, those first whose name begins so; all, as they come, for nothing typed. */
export function matching(places: readonly Place[], typed: string, most = MOST): Place[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  const rank = (p: Place) => {
    const name = p.name.toLowerCase()
    if (!words.every((w) => `${name} ${p.sort.toLowerCase()}`.includes(w))) return -1
    const first = words[0] ?? ''
    return name.startsWith(first) ? 0 : name.includes(` ${first}`) ? 1 : 2
  }
  return places
    .map((p, i) => ({ p, i, rank: rank(p) }))
    .filter((x) => x.rank >= 0)
    .sort((a, b) => a.rank - b.rank || a.i - b.i)
    .slice(0, most)
    .map((x) => x.p)
}

/** The place that a key goes to from another, round and round; null where the key is the text field's. */
export function moved(key: string, at: number, n: number): number | null {
  if (!n) return null
  if (key === 'ArrowDown') return (at + 1) % n
  if (key === 'ArrowUp') return (at - 1 + n) % n
  return null
}

/** Whether a press asks for the palette: Ctrl K, and on a Mac Command K, where Ctrl K deletes to the end of a line. */
export function asks(press: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey'>, mac: boolean): boolean {
  return press.key.toLowerCase() === 'k' && (mac ? press.metaKey && !press.ctrlKey : press.ctrlKey && !press.metaKey) && !press.shiftKey && !press.altKey
}
