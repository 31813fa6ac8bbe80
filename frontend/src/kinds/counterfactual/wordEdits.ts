/**
 * Changed words of a text, equal to `measures/word_edits.py`: the word-level edit distance, ignoring case, and
 * the positions of changes. `tests/measures/word_edits.json` tests both implementations.
 */

import type { Range } from '../../text/offsets.ts'

/** Maximum number of changed words counted; beyond it the text counts as another text. */
const COUNTED = 40
const LETTER = '[\\p{L}\\p{N}_\\u0300-\\u036f]'
const FIRST = '[\\p{L}\\p{N}_]'
const WORD = new RegExp(`(?:(?<![\\p{L}\\p{N}_.])[-+\\u2212](?=\\p{Nd}))?${FIRST}${LETTER}*(?:[-\\u2010\\u2011'\\u2019.,/]${FIRST}${LETTER}*)*|[^\\p{L}\\p{N}_\\s]`, 'gu')
const PUNCTUATION = /^[\p{P}\p{M}\p{Sk}]$/u

/** A run of changed words: its ranges in the target and in the text. One of them can be empty. */
export interface Edit {
  readonly target: Range
  readonly text: Range
}

/** The minimum number of inserted, deleted or replaced words (null: too many to count), and the edits in order. */
export interface Difference {
  readonly words: number | null
  readonly edits: readonly Edit[]
}

interface Word extends Range {
  readonly folded: string
}

/** Case-folded, equal to Python's casefold for the letters in our texts. */
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
  const targetWords = wordsOf(target), now = wordsOf(text)
  const first = common(targetWords, now)
  const last = common(targetWords.slice(first).reverse(), now.slice(first).reverse())
  const a = targetWords.slice(first, targetWords.length - last), b = now.slice(first, now.length - last)
  const table = Math.abs(a.length - b.length) > COUNTED ? null : distances(a, b)
  const words = table ? table[a.length]![b.length]! : COUNTED + 1
  if (!table || words > COUNTED) {
    return { words: null, edits: [{ target: { start: 0, end: target.length }, text: { start: 0, end: text.length } }] }
  }
  const kept = stayed(a, b, table).map(([i, j]): [number, number] => [first + i, first + j])
  return { words, edits: editsOf(targetWords, now, kept, first, last) }
}

function common(a: readonly Word[], b: readonly Word[]): number {
  let n = 0
  while (n < a.length && n < b.length && a[n]!.folded === b[n]!.folded) n++
  return n
}

/** Levenshtein table: distances of the first i words of one text from the first j words of the other. */
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

/** Pairs of indices of unchanged words, in order, read back from the end of the table. */
function stayed(a: readonly Word[], b: readonly Word[], table: readonly Uint16Array[]): [number, number][] {
  const kept: [number, number][] = []
  let i = a.length, j = b.length
  let length = table[i]![j]!
  while (i && j) {
    if (a[i - 1]!.folded === b[j - 1]!.folded) {
      kept.push([--i, --j])
      continue
    }
    length--
    if (table[i - 1]![j - 1] === length) {
      i--
      j--
    } else if (table[i - 1]![j] === length) i--
    else j--
  }
  return kept.reverse()
}

/** The edits between unchanged words. */
function editsOf(targetWords: readonly Word[], now: readonly Word[], kept: readonly [number, number][], first: number, last: number): Edit[] {
  const edits: Edit[] = []
  let i = first, j = first
  for (const [nextI, nextJ] of [...kept, [targetWords.length - last, now.length - last] as const]) {
    if (nextI > i || nextJ > j) edits.push({ target: stretch(targetWords, i, nextI), text: stretch(now, j, nextJ) })
    i = nextI + 1
    j = nextJ + 1
  }
  return edits
}

/** The range of words `first` to `after`; an empty range is at the end of the word before. */
function stretch(words: readonly Word[], first: number, after: number): Range {
  if (after > first) return { start: words[first]!.start, end: words[after - 1]!.end }
  const at = first ? words[first - 1]!.end : 0
  return { start: at, end: at }
}
