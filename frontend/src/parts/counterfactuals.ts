/** Counterfactuals in pieces, as the page of a cluster draws them. */

import { fromWire, type WireRange } from '../text/offsets.ts'

/** A stretch of a rewritten text: the target's own words, new ones, or words of the target that are gone. */
export interface Piece {
  is: 'same' | 'new' | 'was'
  text: string
  /** What is odd about the change. */
  warning?: string
}

/** Words of the text that are not the target's, with those that stood there. */
export interface Change extends WireRange {
  was: string
  warning?: string
}

/** The text in pieces, those of the target that are gone before what took their place; without `was` they are the text. */
export function rewritten(c: { text: string; changes: readonly Change[] }): Piece[] {
  const pieces: Piece[] = []
  let at = 0
  const ranges = fromWire(c.text, c.changes)
  c.changes.forEach((change, i) => {
    const { start, end } = ranges[i]!
    pieces.push({ is: 'same', text: c.text.slice(at, start) })
    // Words that were only left out stood behind the word before them; others give way to what follows.
    const was = start === end && start > 0 ? ` ${change.was}` : `${change.was} `
    const odd = change.warning ? { warning: change.warning } : {}
    if (change.was) pieces.push({ is: 'was', text: was, ...odd })
    pieces.push({ is: 'new', text: c.text.slice(start, end), ...odd })
    at = end
  })
  pieces.push({ is: 'same', text: c.text.slice(at) })
  return pieces.filter((p) => p.text)
}
