/** Sentences of the source, search in it, and overlap with a text. Pure functions. */

import type { Range } from '../text/offsets.ts'
import { words } from '../text/words.ts'

/** The sentences of a text, without surrounding space. */
export function sentences(text: string): Range[] {
  const out: Range[] = []
  let start = 0
  for (const end of text.matchAll(/[.!?]["'”’)\]]*(\s+)(?=["'“‘(\[]*\p{Lu})|\n+/gu)) {
    const stop = end.index + end[0].length - (end[1] ?? end[0]).length
    if (text.slice(start, stop).trim()) out.push({ start, end: stop })
    start = end.index + end[0].length
  }
  const last = text.slice(start).trimEnd().length
  if (last) out.push({ start, end: start + last })
  return out
}

/** The sentences of all studies, in order. */
export function sentencesOf(studies: readonly { readonly text: string }[]): { study: number; range: Range }[] {
  return studies.flatMap((s, study) => sentences(s.text).map((range) => ({ study, range })))
}

export interface Hit {
  readonly study: number
  readonly range: Range
}

/** Matches of a term in the studies, ignoring case; the term needs two letters. */
export function findIn(texts: readonly string[], term: string): Hit[] {
  const wanted = term.trim()
  if ([...wanted].length < 2) return []
  const pattern = new RegExp(wanted.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+'), 'giu')
  return texts.flatMap((text, study) => [...text.matchAll(pattern)].map((m) => ({ study, range: { start: m.index, end: m.index + m[0].length } })))
}

/** Runs of at least `n` words of a text that also occur in another, as reading hints. */
export function shared(text: string, other: string, n = 3): Range[] {
  const plain = (t: string) => words(t).map((range) => ({ range, word: t.slice(range.start, range.end).toLowerCase() }))
  const grams = new Set<string>()
  const otherWords = plain(other).map((w) => w.word)
  for (let i = 0; i + n <= otherWords.length; i++) grams.add(otherWords.slice(i, i + n).join(' '))
  const ownWords = plain(text)
  const out: Range[] = []
  for (let i = 0; i + n <= ownWords.length; i++) {
    if (!grams.has(ownWords.slice(i, i + n).map((w) => w.word).join(' '))) continue
    const range = { start: ownWords[i]!.range.start, end: ownWords[i + n - 1]!.range.end }
    const last = out.at(-1)
    if (last && range.start <= last.end) out[out.length - 1] = { start: last.start, end: range.end }
    else out.push(range)
  }
  return out
}
