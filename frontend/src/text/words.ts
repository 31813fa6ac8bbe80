import type { Range } from './offsets.ts'

const OPENS = /["'‘“(\[{«]/
const CLOSES = /[.,;:!?"'’”»]/
const PAIRS: Record<string, string> = { ')': '(', ']': '[', '}': '{' }

/**
 * The words of a text, in order, without surrounding punctuation: "(p", "loss." and "ILM)," lose it, while
 * "rs4236601[A]" and "Icare®" stay complete. Punctuation alone is not a word.
 */
export function words(text: string): Range[] {
  const found: Range[] = []
  for (const match of text.matchAll(/\S+/gu)) {
    let start = match.index
    let end = start + match[0].length
    while (start < end && OPENS.test(text[start]!)) start++
    while (end > start && closes(text, start, end)) end--
    if (start < end) found.push({ start, end })
  }
  return found
}

function closes(text: string, start: number, end: number): boolean {
  const last = text[end - 1]!
  const opener = PAIRS[last]
  if (opener) return !text.slice(start, end).includes(opener)
  return CLOSES.test(last)
}

/** Index of the first word that ends after the offset (the word at or after it); -1 beyond the last word. */
export function wordAt(all: readonly Range[], offset: number): number {
  return all.findIndex((w) => w.end > offset)
}

/** First letter in lower case without accents, for the F key. */
export function initial(text: string, word: Range): string {
  return plain(String.fromCodePoint(text.codePointAt(word.start)!))
}

export function plain(letter: string): string {
  return letter.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
}
