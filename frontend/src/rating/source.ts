/** The source as it is read: its sentences, what is found in it, and what it shares with a text. Pure. */

import type { Range } from '../text/offsets.ts'
import { words } from '../text/words.ts'

/** The sentences of a text, without the space between them. */
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

/** Those of all studies, one after another. */
export function sentencesOf(studies: readonly { readonly text: string }[]): { study: number; range: Range }[] {
  return studies.flatMap((s, study) => sentences(s.text).map((range) => ({ study, range })))
}

export interface Hit {
  readonly study: number
  readonly range: Range
}

/** Where a word is found in the studies, whatever its case; from two letters on. */
export function findIn(texts: readonly string[], term: string): Hit[] {
  const wanted = term.trim()
  if ([...wanted].length < 2) return []
  const pattern = new RegExp(wanted.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+'), 'giu')
  return texts.flatMap((text, study) => [...text.matchAll(pattern)].map((m) => ({ study, range: { start: m.index, end: m.index + m[0].length } })))
}

/** Runs of at least `n` words of a text that also stand in another, longest first come: hints of where to look. */
export function shared(text: string, other: string, n = 3): Range[] {
  const plain = (t: string) => words(t).map((range) => ({ range, word: t.slice(range.start, range.end).toLowerCase() }))
  const grams = new Set<string>()
  const there = plain(other).map((w) => w.word)
  for (let i = 0; i + n <= there.length; i++) grams.add(there.slice(i, i + n).join(' '))
  const here = plain(text)
  const out: Range[] = []
  for (let i = 0; i + n <= here.length; i++) {
    if (!grams.has(here.slice(i, i + n).map((w) => w.word).join(' '))) continue
    const range = { start: here[i]!.range.start, end: here[i + n - 1]!.range.end }
    const last = out.at(-1)
    if (last && range.start <= last.end) out[out.length - 1] = { start: last.start, end: range.end }
    else out.push(range)
  }
  return out
}
