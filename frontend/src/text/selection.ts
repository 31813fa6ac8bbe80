/** Selecting words of a text by keyboard, mouse or finger. Pure: the page only draws it. */

import { step, type Range } from './offsets.ts'
import { joined } from './segments.ts'
import { initial, plain, wordAt } from './words.ts'

export interface Selection {
  /** The word under the cursor. */
  readonly cursor: number
  /** Where the selection began; null: nothing is selected (the cursor has not been moved on purpose). */
  readonly anchor: number | null
  /** The selection set by characters instead of by words. */
  readonly exact: Range | null
  /** Pieces put aside with Space. */
  readonly kept: readonly Range[]
}

export const nothing: Selection = { cursor: 0, anchor: null, exact: null, kept: [] }

/** The piece being selected, or null. */
export function piece(s: Selection, words: readonly Range[]): Range | null {
  if (s.exact) return s.exact
  if (s.anchor === null || !words.length) return null
  return { start: words[Math.min(s.anchor, s.cursor)]!.start, end: words[Math.max(s.anchor, s.cursor)]!.end }
}

/** All that a value key would take as the cue: the kept pieces and the present one, in order. */
export function selected(s: Selection, words: readonly Range[]): Range[] {
  const now = piece(s, words)
  return joined(now ? [...s.kept, now] : s.kept)
}

/** Puts the cursor on a word and selects it, or extends the selection to it. */
export function moveTo(s: Selection, words: readonly Range[], index: number, extend: boolean): Selection {
  if (!words.length) return s
  const cursor = Math.max(0, Math.min(words.length - 1, index))
  return { ...s, cursor, anchor: extend ? (s.anchor ?? s.cursor) : cursor, exact: null }
}

/** The next word that begins with the letter, searching on from the cursor and around the end. */
export function jump(s: Selection, text: string, words: readonly Range[], letter: string, extend: boolean): Selection {
  const wanted = plain(letter)
  for (let i = 1; i <= words.length; i++) {
    const at = (s.cursor + i) % words.length
    if (initial(text, words[at]!) === wanted) return moveTo(s, words, at, extend)
  }
  return s
}

/** Keeps the piece, so that another can be selected for the same cue. */
export function keep(s: Selection, words: readonly Range[]): Selection {
  const now = piece(s, words) ?? words[s.cursor]
  return now ? { ...s, anchor: null, exact: null, kept: joined([...s.kept, now]) } : s
}

/** Moves one edge of the piece by a character; never to nothing and never outside the text. */
export function adjust(s: Selection, text: string, words: readonly Range[], edge: 'start' | 'end', by: 1 | -1): Selection {
  const now = piece(s, words)
  if (!now) return s
  const moved = { ...now, [edge]: step(text, now[edge], by) }
  return moved.start < moved.end ? { ...s, exact: moved } : s
}

/** Selects the range exactly (a candidate cue), the cursor on its last word. */
export function take(s: Selection, words: readonly Range[], range: Range): Selection {
  const first = Math.max(0, wordAt(words, range.start))
  const last = words.findLastIndex((w) => w.start < range.end)
  const cursor = Math.max(first, last)
  const whole = words[first]?.start === range.start && words[cursor]?.end === range.end
  return { ...s, cursor, anchor: first, exact: whole ? null : { start: range.start, end: range.end } }
}

/**
 * What a drag from one offset to another selects: whole words, or with `characters` exactly what was drawn.
 * With `keepEarlier` what was selected before becomes a kept piece, else it is let go; kept pieces stay (Esc lets go).
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

/** Tapping: the first tap takes a word, the next extends to another, a tap on a lone selected word lets it go. */
export function tap(s: Selection, words: readonly Range[], index: number): Selection {
  if (s.anchor === null) return moveTo(s, words, index, false)
  if (s.anchor === s.cursor && s.cursor === index && !s.exact) return { ...s, anchor: null }
  const low = Math.min(s.anchor, s.cursor), high = Math.max(s.anchor, s.cursor)
  if (index >= low && index <= high) return moveTo(s, words, index, false)
  return { ...s, anchor: index < low ? high : low, cursor: index, exact: null }
}

/** Drags one end of the selection to a word; the ends never cross. */
export function moveEnd(s: Selection, words: readonly Range[], end: 'start' | 'end', index: number): Selection {
  if (s.anchor === null) return s
  const low = Math.min(s.anchor, s.cursor), high = Math.max(s.anchor, s.cursor)
  return end === 'start'
    ? { ...s, anchor: high, cursor: Math.min(index, high), exact: null }
    : { ...s, anchor: low, cursor: Math.max(index, low), exact: null }
}

/** Lets go of everything but the cursor's place. */
export function clear(s: Selection): Selection {
  return { cursor: s.cursor, anchor: null, exact: null, kept: [] }
}
