/** Counterfactuals in pieces for display. */

import { fromWire, type WireRange } from '../../text/offsets.ts'

/** A piece of a rewritten text: unchanged, new, or removed words. */
export interface Piece {
  is: 'same' | 'new' | 'was'
  text: string
  /** Warning about the change. */
  warning?: string
}

/** A range of new words, with the words of the target that it replaces. */
export interface Change extends WireRange {
  was: string
  warning?: string
}

/** Split a text into pieces, removed words before their replacement. Without the pieces `was` they form the text. */
export function rewritten(c: { text: string; changes: readonly Change[] }): Piece[] {
  const pieces: Piece[] = []
  let at = 0
  const ranges = fromWire(c.text, c.changes)
  c.changes.forEach((change, i) => {
    const { start, end } = ranges[i]!
    pieces.push({ is: 'same', text: c.text.slice(at, start) })
    // Deleted words need their space before them, replaced words after them.
    const original = start === end && start > 0 ? ` ${change.was}` : `${change.was} `
    const odd = change.warning ? { warning: change.warning } : {}
    if (change.was) pieces.push({ is: 'was', text: original, ...odd })
    pieces.push({ is: 'new', text: c.text.slice(start, end), ...odd })
    at = end
  })
  pieces.push({ is: 'same', text: c.text.slice(at) })
  return pieces.filter((p) => p.text)
}
