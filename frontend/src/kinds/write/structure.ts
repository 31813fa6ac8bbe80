/**
 * The structure of the passages of a question: titles, paragraphs, lists and their sentences, for display only. The server
 * splits sentences; published passages have no line breaks, so blanks and "- " show where blocks begin.
 */

import type { Schemas } from '../../api/client.ts'
import type { Range, WireRange } from '../../text/offsets.ts'

export type Card = Schemas['WriteCard']
export type Passage = Card['passages'][number]

export type BlockKind = 'title' | 'paragraph' | 'item'

/** A sentence of one of the passages: a range of its stored text, in UTF-16 units. */
export interface Unit extends Range {
  /** Index of the passage in the card. */
  readonly passage: number
  /** Number of its block over all shown passages. */
  readonly block: number
  readonly kind: BlockKind
}

/** A title, a paragraph, or a list of several blocks; blocks are lists of indexes of units. */
export interface Group {
  readonly kind: BlockKind
  readonly blocks: readonly { readonly units: readonly number[] }[]
}

export interface Source {
  readonly units: readonly Unit[]
  readonly passages: readonly { readonly passage: number; readonly groups: readonly Group[] }[]
}

/** A text with its white space squeezed, as it is shown. */
export const squeezed = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** Sorted ranges of code points as UTF-16 units, in one pass, because a passage can have hundreds of them. */
export function toRanges(text: string, sorted: readonly WireRange[]): Range[] {
  if (!/[\uD800-\uDBFF]/.test(text)) return sorted.map(({ start, end }) => ({ start, end }))
  let points = 0, at = 0
  const to = (wanted: number) => {
    for (; points < wanted && at < text.length; points++) at += text.codePointAt(at)! > 0xffff ? 2 : 1
    return at
  }
  return sorted.map(({ start, end }) => ({ start: to(start), end: to(end) }))
}

/** Whether the white space between two sentences separates blocks. */
const separates = (gap: string) => gap.includes('\n') || gap.length > 2

/** The kind of each sentence of a passage, and whether it begins a block. */
function blocksOf(passage: Passage): (Range & { kind: BlockKind; begins: boolean })[] {
  const ranges = toRanges(passage.text, passage.sentences)
  let kind: BlockKind = 'paragraph'
  return ranges.map((range, n) => {
    const before = ranges[n - 1]
    const isItem = /^[-*•]\s/.test(passage.text.slice(range.start, range.start + 2))
    const begins = !before || isItem || kind === 'title' || separates(passage.text.slice(before.end, range.start))
    if (begins) kind = n === 0 && passage.title_end > 0 ? 'title' : isItem ? 'item' : 'paragraph'
    return { ...range, kind, begins }
  })
}

/** The passages with these indexes as blocks of sentences. */
export function sourceOf(passages: readonly Passage[], shown: readonly number[]): Source {
  const units: Unit[] = []
  let block = -1
  const drawn = shown.map((passage) => {
    const groups: { kind: BlockKind; blocks: { units: number[] }[] }[] = []
    for (const { start, end, kind, begins } of blocksOf(passages[passage]!)) {
      if (begins) {
        block++
        const last = groups.at(-1)
        if (kind === 'item' && last?.kind === 'item') last.blocks.push({ units: [] })
        else groups.push({ kind, blocks: [{ units: [] }] })
      }
      groups.at(-1)!.blocks.at(-1)!.units.push(units.length)
      units.push({ start, end, passage, block, kind })
    }
    return { passage, groups }
  })
  return { units, passages: drawn }
}

/** An entry of the outline. */
export interface Heading {
  /** Index of its first sentence, and of the sentence after its last. */
  readonly unit: number
  readonly end: number
  readonly text: string
  readonly isTitle: boolean
}

/** Sentences after which an entry is made where a text has no headings. */
const FAR = 20
const wordsIn = (text: string) => text.split(' ').length

/**
 * The outline: titles, sentences that introduce a list, questions and run-in headings ("Ultrasound."); elsewhere every
 * 20th sentence.
 */
export function outlineOf(passages: readonly Passage[], { units }: Source): Heading[] {
  const found: Omit<Heading, 'end'>[] = []
  let since = FAR
  units.forEach((unit, n) => {
    const text = squeezed(passages[unit.passage]!.text.slice(unit.start, unit.end))
    const add = (words: string, isTitle = false) => {
      found.push({ unit: n, text: words, isTitle })
      since = 0
    }
    if (unit.passage !== units[n - 1]?.passage) since = FAR
    // A heading has text after it; a short last sentence has not.
    const isHeading = (/\?$/.test(text) && wordsIn(text) < 13) || (/\.$/.test(text) && wordsIn(text) < 5 && units[n + 1]?.block === unit.block)
    if (unit.kind === 'title') add(text.replace(/:$/, ''), true)
    else if (/:$/.test(text) && units[n + 1]?.kind === 'item') add(text.replace(/^- |:$/g, ''))
    else if (unit.kind === 'paragraph' && since > 1 && isHeading) add(text.replace(/\.$/, ''))
    else if (unit.kind === 'paragraph' && since >= FAR) add(`${text.split(' ').slice(0, 9).join(' ')} …`)
    since++
  })
  return found.map((heading, n) => ({ ...heading, end: found[n + 1]?.unit ?? units.length }))
}
