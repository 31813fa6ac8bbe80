/** Destinations of the command palette and their search. */

export interface Destination {
  readonly href: string
  readonly name: string
  /** Type of the destination, in one or two words. */
  readonly sort: string
}

const MOST = 12

/** Destinations that contain every typed word, those whose name begins with the first word first; all if nothing is typed. */
export function matching(places: readonly Destination[], typed: string, most = MOST): Destination[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  const rank = (p: Destination) => {
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

/** "127 matches, 20 shown"; "3 matches" if all are shown; "1,000+" if there are more. Imports no formats, because each page loads this file first. */
export function summary(total: number, shown: number, more = false): string {
  return `${total.toLocaleString('en-GB')}${more ? '+' : ''} ${total === 1 ? 'match' : 'matches'}${shown < total ? `, ${shown} shown` : ''}`
}

/** The index that an arrow key moves to, with wrap-around; null if the key belongs to the text field. */
export function nextIndex(key: string, at: number, n: number): number | null {
  if (!n) return null
  if (key === 'ArrowDown') return (at + 1) % n
  if (key === 'ArrowUp') return (at - 1 + n) % n
  return null
}

/** Whether a press asks for the palette: Ctrl K, and on a Mac Command K, where Ctrl K deletes to the end of a line. */
export function asks(press: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey'>, mac: boolean): boolean {
  return press.key.toLowerCase() === 'k' && (mac ? press.metaKey && !press.ctrlKey : press.ctrlKey && !press.metaKey) && !press.shiftKey && !press.altKey
}
