/** The current sentence and the marked range of the source. Pure functions. */

import { trimmed, type Chunk } from './chunks.ts'
import type { Passage, Source, Unit } from './structure.ts'

export interface Cursor {
  /** Index of the current sentence. */
  readonly at: number
  /** Sentence at which marking began, or null. */
  readonly anchor: number | null
  /** The marked range, or null. */
  readonly range: Chunk | null
}

export const cursorAt = (at: number): Cursor => ({ at, anchor: null, range: null })

export const within = (source: Source, at: number): number => Math.max(0, Math.min(source.units.length - 1, at))

const spanOf = (first: Unit, last: Unit): Chunk => ({ passage: first.passage, start: first.start, end: last.end })

/** Mark from the anchor to a sentence, which becomes the current one. A range stays in one passage. */
export function extendTo(source: Source, cursor: Cursor, to: number): Cursor {
  const anchor = cursor.anchor ?? cursor.at
  const { passage } = source.units[anchor]!
  let at = within(source, to)
  const back = at < anchor ? 1 : -1
  while (source.units[at]!.passage !== passage) at += back
  return { at, anchor, range: spanOf(source.units[Math.min(anchor, at)]!, source.units[Math.max(anchor, at)]!) }
}

/**
 * Mark to the end of the list or paragraph; if that is marked, to the end of the next. A sentence that introduces a
 * list is marked with the list.
 */
export function extendBlock(passages: readonly Passage[], source: Source, cursor: Cursor): Cursor {
  const { units } = source
  const from = cursor.anchor ?? cursor.at
  const { passage } = units[from]!
  const isIn = (n: number) => units[n]?.passage === passage
  let to = from
  const { range } = cursor
  if (range) {
    to = units.findIndex((u) => u.passage === passage && u.end >= range.end)
    if (isIn(to + 1)) to++
  }
  const toEnd = () => {
    while (isIn(to + 1) && units[to + 1]!.block === units[to]!.block) to++
  }
  toEnd()
  const introduces = passages[passage]!.text[units[to]!.end - 1] === ':'
  if (units[to]!.kind === 'item' || introduces) {
    while (isIn(to + 1) && units[to + 1]!.kind === 'item') {
      to++
      toEnd()
    }
  }
  return { at: to, anchor: from, range: spanOf(units[from]!, units[to]!) }
}

/** Move an edge of the marked range, or of the current sentence, by a word; the range never becomes empty. */
export function nudge(passages: readonly Passage[], source: Source, cursor: Cursor, edge: 'start' | 'end', by: 1 | -1): Cursor {
  const unit = source.units[cursor.at]!
  const { passage, start, end } = cursor.range ?? unit
  const { text } = passages[passage]!
  const inside = text.slice(start, end)
  let to: number
  if (edge === 'end') to = by > 0 ? end + (/^\s*\S+/.exec(text.slice(end))?.[0].length ?? 0) : end - (/\s*\S+$/.exec(inside)?.[0].length ?? 0)
  else to = by > 0 ? start + (/^\S+\s+/.exec(inside)?.[0].length ?? 0) : start - (/\S+\s*$/.exec(text.slice(0, start))?.[0].length ?? 0)
  const range = edge === 'end' ? { passage, start, end: to } : { passage, start: to, end }
  return range.end > range.start ? { ...cursor, range } : cursor
}

const LETTER = /[\p{L}\p{N}'’]/u

/** A range with whole words: an edge inside a word moves to its outer end. Null if only white space is selected. */
export function wholeWords(text: string, selection: Chunk): Chunk | null {
  const found = trimmed(text, selection)
  if (!found) return null
  let { start, end } = found
  while (start > 0 && LETTER.test(text[start]!) && LETTER.test(text[start - 1]!)) start--
  while (end < text.length && LETTER.test(text[end - 1]!) && LETTER.test(text[end]!)) end++
  return { passage: selection.passage, start, end }
}
