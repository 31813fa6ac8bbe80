/** The four elements of a PICO tuple: names, a tuple in one line, and positions in a text. */

import type { Schemas } from '../api/client.ts'
import { fromWire, toWire, type Range } from '../text/offsets.ts'
import { underlined as spansUnderlined, type Mark } from '../text/segments.ts'
import { formOf, placeIn } from './form.ts'

export const ELEMENTS = { p: 'Population', i: 'Intervention', c: 'Comparator', o: 'Outcome' } as const
export type ElementKey = keyof typeof ELEMENTS
export const ORDER = Object.keys(ELEMENTS) as ElementKey[]

/** An element with its marked ranges. */
type Placed = Schemas['PicoSlot']
type Shown = Pick<Placed, 'slot' | 'form' | 'text'>

/** Text of an element: implied text in [brackets], a blank element empty. */
export function elementText(pico: readonly Shown[], slot: ElementKey): string {
  const found = pico.find((s) => s.slot === slot)
  if (!found || found.form === 'blank') return ''
  return found.form === 'implied' && !found.text.startsWith('[') ? `[${found.text}]` : found.text
}

/** Whether an element has text that is not verbatim in the proposition. */
export function isReworded(pico: readonly Placed[], slot: ElementKey): boolean {
  return elementText(pico, slot) !== '' && !pico.find((s) => s.slot === slot)?.fragments.length
}

/** The tuple in one line: "bevacizumab, against ranibizumab → visual acuity". */
export function inShort(pico: readonly Shown[]): string {
  const against = elementText(pico, 'c')
  return `${elementText(pico, 'i') || '…'}${against ? `, against ${against}` : ''} → ${elementText(pico, 'o') || '…'}`
}

/** A tuple with its positions in a text. The stored positions are those in the target. */
export function tupleIn(text: string, isTarget: boolean, slots: readonly Placed[]): Placed[] {
  return slots.map(({ slot, form, text: said, fragments }) => {
    const at = isTarget ? null : placeIn(text, said)
    const found = at ? toWire(text, [at]).map(({ start, end }) => ({ start, end })) : []
    return { slot, form, text: said, fragments: isTarget ? fragments : found }
  })
}

/** An element where it stands in a text. */
export interface ElementMark {
  slot: ElementKey
  ranges: readonly Range[]
}

/** Marks of elements by their stored ranges. */
export function elementMarks(text: string, pico: readonly Placed[]): ElementMark[] {
  return pico.filter((s) => s.fragments.length).map((s) => ({ slot: s.slot, ranges: fromWire(text, s.fragments) }))
}

/** Marks of typed elements that are found in a text. */
export function typedMarks(text: string, typed: Readonly<Record<ElementKey, string>>): ElementMark[] {
  return ORDER.flatMap((slot) => {
    const { at } = formOf(typed[slot], text)
    return at ? [{ slot, ranges: [at] }] : []
  })
}

/** Elements as lines under a text, with their letters. */
export function underlined(marks: readonly ElementMark[]): Mark[] {
  return spansUnderlined(marks.map((s) => ({ ranges: s.ranges, tag: s.slot.toUpperCase() })))
}
