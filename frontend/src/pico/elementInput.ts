/** Input of one PICO element: selected words of the text, or typed text. Pure functions. */

import type { Schemas } from '../api/client.ts'
import { fromWire, toWire, type Range } from '../text/offsets.ts'
import { joinRanges } from '../text/segments.ts'
import { formOf, locateWords, type Form } from './form.ts'

type ElementValue = Schemas['TupleElement']
export type StandsFor = NonNullable<Schemas['TupleValue']['c']['stands_for']>

export const STANDS_FOR: readonly { value: StandsFor; says: string }[] = [
  { value: '', says: 'blank' },
  { value: 'placebo', says: 'blank: placebo' },
  { value: 'none', says: 'blank: no treatment' },
  { value: 'not stated', says: 'blank: not stated' },
]

export interface ElementInput {
  /** Text with implied parts in [brackets]. */
  readonly text: string
  /** Marked ranges, in order. If not empty, the text consists of these and implied parts between them. */
  readonly ranges: readonly Range[]
}

/** An element from selected words. An unclosed bracket is completed: "ocular hypertension (OHT" includes the ")" after it. */
export function inputOfRanges(text: string, ranges: readonly Range[]): ElementInput {
  const pieces = joinRanges(ranges.map((r) => closed(text, r)))
  return { text: pieces.map((r) => text.slice(r.start, r.end)).join(' '), ranges: pieces }
}

function closed(text: string, range: Range): Range {
  const inside = text.slice(range.start, range.end)
  const open = (sign: string) => inside.split(sign).length
  const next = text[range.end]
  const closes = (next === ')' && open('(') > open(')')) || (next === ']' && open('[') > open(']'))
  return closes ? { start: range.start, end: range.end + 1 } : range
}

/** Small words do not count as implied: "risk of relapse" for "risk for relapse" is reworded. */
const SMALL = /^(of|the|in|with|a|an|and|or|to|for|on|at|by)$/i
const IMPLIED = /(?:(?<=\s)|^)\[[^[\]]*\]/

interface Part {
  text: string
  at: Range | null
  implied: boolean
}

/**
 * An element from typed text. Words found in the text are explicit; the rest is implied and gets [brackets].
 * Typed brackets are kept; brackets inside a word ("rs4236601[A]") are text. Null for empty input.
 */
export function inputOfText(said: string, text: string): ElementInput | null {
  const wanted = said.trim().replace(/\s+/g, ' ')
  if (!wanted) return null
  if (IMPLIED.test(wanted)) return placed(obeyed(wanted, text), text)
  const whole = locateWords(text, wanted)
  if (whole) return placed([{ text: wanted, at: whole, implied: false }], text)
  const parts = runs(wanted.split(' '), text)
  const missing = parts.filter((p) => p.implied)
  const explicit = parts.length > missing.length
  if (explicit && missing.length && missing.every((p) => p.text.split(' ').every((word) => SMALL.test(word)))) return { text: wanted, ranges: [] }
  return placed(parts, text)
}

function obeyed(wanted: string, text: string): Part[] {
  return wanted.split(/((?:(?<=\s)|^)\[[^[\]]*\])/).map((s) => s.trim()).filter(Boolean).map((piece) => {
    const implied = IMPLIED.test(piece)
    return { text: implied ? piece.slice(1, -1) : piece, at: implied ? null : locateWords(text, piece), implied }
  })
}

/** The longest runs of words found in the text; words between them are implied. */
function runs(words: readonly string[], text: string): Part[] {
  const parts: Part[] = []
  for (let i = 0; i < words.length;) {
    let end = words.length
    let at: Range | null = null
    for (; end > i && !at; end--) at = locateWords(text, words.slice(i, end).join(' ').replace(/[,;.]$/, ''))
    end = at ? end + 1 : i + 1
    const piece = words.slice(i, end).join(' ')
    const last = parts.at(-1)
    if (at && !words.slice(i, end).every((word) => SMALL.test(word))) parts.push({ text: piece, at, implied: false })
    else if (last?.implied) last.text += ` ${piece}`
    else parts.push({ text: piece, at: null, implied: true })
    i = end
  }
  return parts
}

/** The text with brackets; with ranges only if all explicit parts occur verbatim and in order. */
function placed(parts: readonly Part[], text: string): ElementInput {
  const said = parts.map((p) => (p.implied ? `[${p.text}]` : p.text)).join(' ')
  const explicit = parts.filter((p) => !p.implied)
  const ranges = explicit.flatMap((p) => p.at ?? [])
  const inOrder = ranges.every((r, n) => !n || r.start > ranges[n - 1]!.end)
  const exact = explicit.every((p) => p.at && text.slice(p.at.start, p.at.end) === p.text)
  return { text: said, ranges: inOrder && exact ? ranges : [] }
}

/** Turn an implied element into a reworded one and vice versa; null if it is neither. */
export function flipped(said: ElementInput, text: string): ElementInput | null {
  const form = formIn(said, text)
  if (form === 'reworded') return { text: `[${said.text}]`, ranges: [] }
  if (form !== 'implied' && form !== 'partly implied') return null
  return { text: said.text.replace(new RegExp(IMPLIED, 'g'), (part) => part.slice(1, -1)), ranges: [] }
}

export function formIn(said: ElementInput, text: string): Form {
  if (!said.ranges.length) return formOf(said.text, text).form
  return said.ranges.map((r) => text.slice(r.start, r.end)).join(' ') === said.text ? 'explicit' : 'partly implied'
}

/** The form in one or two words. */
export function formShort(said: ElementInput, text: string): string {
  const form = formIn(said, text)
  return form === 'explicit' && said.ranges.length > 1 ? `${said.ranges.length} parts` : form
}

/** Explicit and implied parts of an element. */
export function partsOf(said: ElementInput): { text: string; implied: boolean }[] {
  return said.text.split(/((?:(?<=\s)|^)\[[^[\]]*\])/).filter(Boolean).map((piece) => ({ text: piece, implied: IMPLIED.test(piece) }))
}

/** Ranges of an element in the text, marked or located. */
export function rangesOf(said: ElementInput, text: string): readonly Range[] {
  if (said.ranges.length) return said.ranges
  const { at } = formOf(said.text, text)
  return at ? [at] : []
}

export function fromValue(element: ElementValue, text: string): ElementInput | null {
  return element.text ? { text: element.text, ranges: fromWire(text, element.fragments ?? []) } : null
}

export function toElement(said: ElementInput | null, text: string): ElementValue {
  return { text: said?.text ?? '', fragments: toWire(text, said?.ranges ?? []) }
}
