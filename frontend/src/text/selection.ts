/** Selection of words in a text by keyboard, mouse or touch. Pure functions. */

import { step, type Range } from './offsets.ts'
import { joinRanges } from './segments.ts'
import { initial, plain, wordAt } from './words.ts'

export interface Selection {
  /** The word under the cursor. */
  readonly cursor: number
  /** Word at which the selection began; null: no selection. */
  readonly anchor: number | null
  /** A selection by characters instead of words, or null. */
  readonly exact: Range | null
  /** Parts added with Space. */
  readonly kept: readonly Range[]
}

export const emptySelection: Selection = { cursor: 0, anchor: null, exact: null, kept: [] }

/** The part being selected, or null. */
export function piece(s: Selection, words: readonly Range[]): Range | null {
  if (s.exact) return s.exact
  if (s.anchor === null || !words.length) return null
  return { start: words[Math.min(s.anchor, s.cursor)]!.start, end: words[Math.max(s.anchor, s.cursor)]!.end }
}

/** All selected ranges: the kept parts and the current one, in order. */
export function selected(s: Selection, words: readonly Range[]): Range[] {
  const now = piece(s, words)
  return joinRanges(now ? [...s.kept, now] : s.kept)
}

/** Move the cursor to a word and select it, or extend the selection to it. */
export function moveTo(s: Selection, words: readonly Range[], index: number, extend: boolean): Selection {
  if (!words.length) return s
  const cursor = Math.max(0, Math.min(words.length - 1, index))
  return { ...s, cursor, anchor: extend ? (s.anchor ?? s.cursor) : cursor, exact: null }
}

/** Move to the next word with this initial, wrapping around. */
export function jump(s: Selection, text: string, words: readonly Range[], letter: string, extend: boolean): Selection {
  const wanted = plain(letter)
  for (let i = 1; i <= words.length; i++) {
    const at = (s.cursor + i) % words.length
    if (initial(text, words[at]!) === wanted) return moveTo(s, words, at, extend)
  }
  return s
}

/** Keep the current part, so that another can be selected. */
export function keep(s: Selection, words: readonly Range[]): Selection {
  const now = piece(s, words) ?? words[s.cursor]
  return now ? { ...s, anchor: null, exact: null, kept: joinRanges([...s.kept, now]) } : s
}

/** Move one edge of the current part by a character, within the text and never to an empty range. */
export function adjust(s: Selection, text: string, words: readonly Range[], edge: 'start' | 'end', by: 1 | -1): Selection {
  const now = piece(s, words)
  if (!now) return s
  const moved = { ...now, [edge]: step(text, now[edge], by) }
  return moved.start < moved.end ? { ...s, exact: moved } : s
}

/** Select a range exactly (a candidate cue), with the cursor on its last word. */
export function take(s: Selection, words: readonly Range[], range: Range): Selection {
  const first = Math.max(0, wordAt(words, range.start))
  const last = words.findLastIndex((w) => w.start < range.end)
  const cursor = Math.max(first, last)
  const whole = words[first]?.start === range.start && words[cursor]?.end === range.end
  return { ...s, cursor, anchor: first, exact: whole ? null : { start: range.start, end: range.end } }
}

/**
 * Select by dragging: whole words, or with `characters` the exact range.
 * With `keepEarlier` the earlier selection becomes a kept part, else it is cleared; kept parts stay until Esc.
 */
export function drag(
  s: Selection, words: readonly Range[], range: Range, options: { characters?: boolean; keepEarlier?: boolean } = {},
): Selection {
  const first = wordAt(words, range.start)
  const last = words.findLastIndex((w) => w.start < range.end)
  if (first < 0 || last < first) return s
  const kept = options.keepEarlier ? selected(s, words) : s.kept
  return { cursor: last, anchor: first, exact: options.characters ? { ...range } : null, kept }
}

/** Select by tapping: the first tap selects a word, the next extends to another; a tap on a single selected word clears it. */
export function tap(s: Selection, words: readonly Range[], index: number): Selection {
  if (s.anchor === null) return moveTo(s, words, index, false)
  if (s.anchor === s.cursor && s.cursor === index && !s.exact) return { ...s, anchor: null }
  const low = Math.min(s.anchor, s.cursor), high = Math.max(s.anchor, s.cursor)
  if (index >= low && index <= high) return moveTo(s, words, index, false)
  return { ...s, anchor: index < low ? high : low, cursor: index, exact: null }
}

/** Drag one end of the selection to a word; the ends never cross. */
export function moveEnd(s: Selection, words: readonly Range[], end: 'start' | 'end', index: number): Selection {
  if (s.anchor === null) return s
  const low = Math.min(s.anchor, s.cursor), high = Math.max(s.anchor, s.cursor)
  return end === 'start'
    ? { ...s, anchor: high, cursor: Math.min(index, high), exact: null }
    : { ...s, anchor: low, cursor: Math.max(index, low), exact: null }
}

/** Clear everything except the cursor. */
export function clear(s: Selection): Selection {
  return { cursor: s.cursor, anchor: null, exact: null, kept: [] }
}
