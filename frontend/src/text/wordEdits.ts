/**
 * Which words of a text were changed, as `measures/word_edits.py` has it: the word-level edit distance, case aside, and
 * where the changes stand. Both are held to `tests/measures/word_edits.json`.
 */

import type { Range } from './offsets.ts'

/** Up to so many changed words are counted; beyond, a text is simply another one. */
const COUNTED = 40
const LETTER = '[\\p{L}\\p{N}_\\u0300-\\u036f]'
const FIRST = '[\\p{L}\\p{N}_]'
const WORD = new RegExp(`(?:(?<![\\p{L}\\p{N}_.])[-+\\u2212](?=\\p{Nd}))?${FIRST}${LETTER}*(?:[-\\u2010\\u2011'\\u2019.,/]${FIRST}${LETTER}*)*|[^\\p{L}\\p{N}_\\s]`, 'gu')
const PUNCTUATION = /^[\p{P}\p{M}\p{Sk}]$/u

/** A run of words that changed: where it stood in the target, and where in the text. One of them may be empty. */
export interface Edit {
  readonly target: Range
  readonly text: Range
}

/** The least number of words put in, left out or replaced, and where, in order; null: too many to count. */
export interface Difference {
  readonly words: number | null
  readonly edits: readonly Edit[]
}

interface Word extends Range {
  readonly folded: string
}

/** Whatever the case: as Python's casefold has it, for the letters that texts have. */
const folded = (word: string) => word.normalize('NFC').toUpperCase().toLowerCase().replaceAll('ς', 'σ')

function wordsOf(text: string): Word[] {
  const found: Word[] = []
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (!PUNCTUATION.test(word) || '%‰&'.includes(word)) found.push({ folded: folded(word), start: index, end: index + word.length })
  }
  return found
}

/** Whether two texts differ at most in case, spaces and punctuation. */
export function sameWords(a: string, b: string): boolean {
  const [x, y] = [wordsOf(a), wordsOf(b)]
  return x.length === y.length && x.every((word, i) => word.folded === y[i]!.folded)
}

export function difference(target: string, text: string): Difference {
  const was = wordsOf(target), now = wordsOf(text)
  const first = common(was, now)
  const last = common(was.slice(first).reverse(), now.slice(first).reverse())
  const a = was.slice(first, was.length - last), b = now.slice(first, now.length - last)
  const table = Math.abs(a.length - b.length) > COUNTED ? null : distances(a, b)
  const words = table ? table[a.length]![b.length]! : COUNTED + 1
  if (!table || words > COUNTED) {
    return { words: null, edits: [{ target: { start: 0, end: target.length }, text: { start: 0, end: text.length } }] }
  }
  const kept = stayed(a, b, table).map(([i, j]): [number, number] => [first + i, first + j])
  return { words, edits: editsOf(was, now, kept, first, last) }
}

function common(a: readonly Word[], b: readonly Word[]): number {
  let n = 0
  while (n < a.length && n < b.length && a[n]!.folded === b[n]!.folded) n++
  return n
}

/** Levenshtein's table: the distance of the first i words of one from the first j of the other. */
function distances(a: readonly Word[], b: readonly Word[]): Uint16Array[] {
  const table = [Uint16Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const above = table[i - 1]!
    const row = new Uint16Array(b.length + 1)
    row[0] = i
    for (let j = 1; j <= b.length; j++) {
      row[j] = Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + Number(a[i - 1]!.folded !== b[j - 1]!.folded))
    }
    table.push(row)
  }
  return table
}

/** Indices of words that stay in both, in order, read back from the end of the table. */
function stayed(a: readonly Word[], b: readonly Word[], table: readonly Uint16Array[]): [number, number][] {
  const kept: [number, number][] = []
  let i = a.length, j = b.length
  let here = table[i]![j]!
  while (i && j) {
    if (a[i - 1]!.folded === b[j - 1]!.folded) {
      kept.push([--i, --j])
      continue
    }
    here--
    if (table[i - 1]![j - 1] === here) {
      i--
      j--
    } else if (table[i - 1]![j] === here) i--
    else j--
  }
  return kept.reverse()
}

/** The stretches between words that stay. */
function editsOf(was: readonly Word[], now: readonly Word[], kept: readonly [number, number][], first: number, last: number): Edit[] {
  const edits: Edit[] = []
  let i = first, j = first
  for (const [nextI, nextJ] of [...kept, [was.length - last, now.length - last] as const]) {
    if (nextI > i || nextJ > j) edits.push({ target: stretch(was, i, nextI), text: stretch(now, j, nextJ) })
    i = nextI + 1
    j = nextJ + 1
  }
  return edits
}

/** The range of words first to after; an empty one stands behind the word before it. */
function stretch(words: readonly Word[], first: number, after: number): Range {
  if (after > first) return { start: words[first]!.start, end: words[after - 1]!.end }
  const at = first ? words[first - 1]!.end : 0
  return { start: at, end: at }
}
