/** One PICO slot as a person gives it: words of the text that were selected, or what was typed. Pure. */

import type { Schemas } from '../api/client.ts'
import { fromWire, toWire, type Range } from '../text/offsets.ts'
import { joined } from '../text/segments.ts'
import { formOf, locateWords, type Form } from './form.ts'

type SlotValue = Schemas['TupleSlot']
export type StandsFor = NonNullable<Schemas['TupleValue']['c']['stands_for']>

export const STANDS_FOR: readonly { value: StandsFor; says: string }[] = [
  { value: '', says: 'blank' },
  { value: 'placebo', says: 'blank: placebo' },
  { value: 'none', says: 'blank: no treatment' },
  { value: 'not stated', says: 'blank: not stated' },
]

export interface Said {
  /** Implied parts stand in [brackets]. */
  readonly text: string
  /** Where it was marked, in order. Where there are such the text is these pieces, and implied parts between them. */
  readonly ranges: readonly Range[]
}

/** The words that were selected, each piece closed: "ocular hypertension (OHT" takes the bracket after it too. */
export function marked(text: string, ranges: readonly Range[]): Said {
  const pieces = joined(ranges.map((r) => closed(text, r)))
  return { text: pieces.map((r) => text.slice(r.start, r.end)).join(' '), ranges: pieces }
}

function closed(text: string, range: Range): Range {
  const inside = text.slice(range.start, range.end)
  const open = (sign: string) => inside.split(sign).length
  const next = text[range.end]
  const closes = (next === ')' && open('(') > open(')')) || (next === ']' && open('[') > open(']'))
  return closes ? { start: range.start, end: range.end + 1 } : range
}

/** Small words alone imply nothing: "risk of relapse" from "risk for relapse" is reworded. */
const SMALL = /^(of|the|in|with|a|an|and|or|to|for|on|at|by)$/i
const IMPLIED = /(?:(?<=\s)|^)\[[^[\]]*\]/

interface Part {
  text: string
  at: Range | null
  implied: boolean
}

/**
 * What was typed: runs of words that stand in the text are explicit, the rest is implied and gets its [brackets] here.
 * Brackets that were typed are obeyed; those inside a word ("rs4236601[A]") are text. Null where nothing was typed.
 */
export function typed(said: string, text: string): Said | null {
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

/** The longest runs of words that stand in the text; what lies between them is implied. */
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

/** The text with its brackets; its places only where all explicit parts stand there to the letter, one after another. */
function placed(parts: readonly Part[], text: string): Said {
  const said = parts.map((p) => (p.implied ? `[${p.text}]` : p.text)).join(' ')
  const explicit = parts.filter((p) => !p.implied)
  const ranges = explicit.flatMap((p) => p.at ?? [])
  const inOrder = ranges.every((r, n) => !n || r.start > ranges[n - 1]!.end)
  const exact = explicit.every((p) => p.at && text.slice(p.at.start, p.at.end) === p.text)
  return { text: said, ranges: inOrder && exact ? ranges : [] }
}

/** What was taken for implied is reworded, and the other way round; null where the slot is neither. */
export function flipped(said: Said, text: string): Said | null {
  const form = formIn(said, text)
  if (form === 'reworded') return { text: `[${said.text}]`, ranges: [] }
  if (form !== 'implied' && form !== 'partly implied') return null
  return { text: said.text.replace(new RegExp(IMPLIED, 'g'), (part) => part.slice(1, -1)), ranges: [] }
}

export function formIn(said: Said, text: string): Form {
  if (!said.ranges.length) return formOf(said.text, text).form
  return said.ranges.map((r) => text.slice(r.start, r.end)).join(' ') === said.text ? 'explicit' : 'partly implied'
}

/** The form in a word or two, for beside the slot. */
export function formShort(said: Said, text: string): string {
  const form = formIn(said, text)
  return form === 'explicit' && said.ranges.length > 1 ? `${said.ranges.length} parts` : form
}

/** Its parts with what of them is implied: for drawing. */
export function partsOf(said: Said): { text: string; implied: boolean }[] {
  return said.text.split(/((?:(?<=\s)|^)\[[^[\]]*\])/).filter(Boolean).map((piece) => ({ text: piece, implied: IMPLIED.test(piece) }))
}

/** Where a slot stands in the text, marked or not. */
export function rangesOf(said: Said, text: string): readonly Range[] {
  if (said.ranges.length) return said.ranges
  const { at } = formOf(said.text, text)
  return at ? [at] : []
}

export function fromValue(slot: SlotValue, text: string): Said | null {
  return slot.text ? { text: slot.text, ranges: fromWire(text, slot.fragments ?? []) } : null
}

export function toSlot(said: Said | null, text: string): SlotValue {
  return { text: said?.text ?? '', fragments: toWire(text, said?.ranges ?? []) }
}
