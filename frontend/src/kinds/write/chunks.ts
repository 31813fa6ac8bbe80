/** Chunks of an extractive summary: exact ranges of passages, in the order in which they are joined. Pure functions. */

import { overlaps } from '../../text/segments.ts'
import type { Range } from '../../text/offsets.ts'
import { squeezed, type Passage, type Source, type Unit } from './structure.ts'

export interface Chunk extends Range {
  /** Index of the passage in the card. */
  readonly passage: number
}

type Texts = readonly Pick<Passage, 'text'>[]

const touches = (a: Chunk, b: Chunk) => a.passage === b.passage && overlaps(a, b)

export const textOf = (texts: Texts, c: Chunk): string => texts[c.passage]!.text.slice(c.start, c.end)

/** The text of an extractive summary. */
export const joined = (texts: Texts, chunks: readonly Chunk[], joiner: string): string => chunks.map((c) => textOf(texts, c)).join(joiner)

/** A range without the white space at its ends; null if nothing is left. */
export function trimmed(text: string, { start, end }: Range): Range | null {
  while (start < end && /\s/.test(text[start]!)) start++
  while (end > start && /\s/.test(text[end - 1]!)) end--
  return end > start ? { start, end } : null
}

/**
 * Take a range: it is merged with the chunks that it overlaps, at the place of the first of them. A range that
 * directly follows the last chunk extends it.
 */
export function take(texts: Texts, chunks: readonly Chunk[], range: Chunk): Chunk[] {
  const hit = chunks.filter((c) => touches(c, range))
  if (hit.length) {
    const whole = { passage: range.passage, start: Math.min(range.start, ...hit.map((c) => c.start)), end: Math.max(range.end, ...hit.map((c) => c.end)) }
    return chunks.flatMap((c) => (c === hit[0] ? [whole] : hit.includes(c) ? [] : [c]))
  }
  const last = chunks.at(-1)
  const follows = last?.passage === range.passage && last.end <= range.start && !trimmed(texts[range.passage]!.text, { start: last.end, end: range.start })
  return follows ? [...chunks.slice(0, -1), { ...last, end: range.end }] : [...chunks, { ...range }]
}

/** Remove a range from all chunks; a chunk around it becomes two. */
export function drop(texts: Texts, chunks: readonly Chunk[], range: Chunk): Chunk[] {
  return chunks.flatMap((c) => {
    if (!touches(c, range)) return [c]
    const parts = [{ start: c.start, end: range.start }, { start: range.end, end: c.end }]
    return parts.flatMap((part) => {
      const rest = part.start < part.end ? trimmed(texts[c.passage]!.text, part) : null
      return rest ? [{ passage: c.passage, ...rest }] : []
    })
  })
}

/** Move a chunk by a number of places; the same list if it cannot move. */
export function move(chunks: readonly Chunk[], index: number, by: number): readonly Chunk[] {
  const to = index + by
  if (!chunks[index] || !chunks[to] || !by) return chunks
  const rest = chunks.filter((_, n) => n !== index)
  return [...rest.slice(0, to), chunks[index], ...rest.slice(to)]
}

export const remove = (chunks: readonly Chunk[], index: number): readonly Chunk[] => (chunks[index] ? chunks.filter((_, n) => n !== index) : chunks)

/** Add chunks of other steps, except those that overlap one of the list. */
export function startFrom(chunks: readonly Chunk[], others: readonly Chunk[]): readonly Chunk[] {
  return others.reduce<readonly Chunk[]>((all, c) => (all.some((own) => touches(own, c)) ? all : [...all, c]), chunks)
}

export type Covered = 'no' | 'partly' | 'yes'

/** How much of each sentence the chunks cover. */
export function coverage(units: readonly Unit[], chunks: readonly Chunk[]): Covered[] {
  return units.map((unit) => {
    let covered = 0
    for (const c of chunks) if (touches(c, unit)) covered += Math.min(c.end, unit.end) - Math.max(c.start, unit.start)
    return covered === 0 ? 'no' : covered >= unit.end - unit.start ? 'yes' : 'partly'
  })
}

/** Index of the first sentence that a chunk covers; -1 if its passage is not shown. */
export const unitOf = ({ units }: Source, chunk: Chunk): number => units.findIndex((u) => touches(u, chunk))

/** Index of the chunk at a sentence; -1 without one. */
export const chunkAt = (chunks: readonly Chunk[], unit: Unit | undefined): number => (unit ? chunks.findIndex((c) => touches(unit, c)) : -1)

const plain = (text: string) => squeezed(text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' '))

/** For each chunk the index of an earlier one with the same text, or whose text contains it; -1 without one. */
export function repeats(texts: Texts, chunks: readonly Chunk[]): number[] {
  const all = chunks.map((c) => plain(textOf(texts, c)))
  return all.map((text, n) => all.findIndex((other, k) => k < n && (other.includes(text) || text.includes(other))))
}
