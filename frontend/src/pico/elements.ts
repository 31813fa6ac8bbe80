/** The four elements of a PICO tuple: names, a tuple in one line, and positions in a text. */

import type { Schemas } from '../api/client.ts'
import { fromWire, toWire, type Range } from '../text/offsets.ts'
import { underlined as spansUnderlined, type Mark } from '../text/segments.ts'
import { formOf, placeIn } from './form.ts'

export const ELEMENTS = { p: 'Population', i: 'Intervention', c: 'Comparator', o: 'Outcome' } as const
export type ElementKey = keyof typeof ELEMENTS
export const ORDER = Object.keys(ELEMENTS) as ElementKey[]

/** An element with its marked ranges. */
type Placed = Schemas['PicoElement']
type Shown = Pick<Placed, 'element' | 'form' | 'text'>

/** Text of an element: implied text in [brackets], a blank element empty. */
export function elementText(pico: readonly Shown[], element: ElementKey): string {
  const found = pico.find((s) => s.element === element)
  if (!found || found.form === 'blank') return ''
  return found.form === 'implied' && !found.text.startsWith('[') ? `[${found.text}]` : found.text
}

/** Whether an element has text that is not verbatim in the proposition. */
export function isReworded(pico: readonly Placed[], element: ElementKey): boolean {
  return elementText(pico, element) !== '' && !pico.find((s) => s.element === element)?.fragments.length
}

/** The tuple in one line: "bevacizumab, against ranibizumab → visual acuity". */
export function inShort(pico: readonly Shown[]): string {
  const against = elementText(pico, 'c')
  return `${elementText(pico, 'i') || '…'}${against ? `, against ${against}` : ''} → ${elementText(pico, 'o') || '…'}`
}

/** A tuple with its positions in a text. The stored positions are those in the target. */
export function tupleIn(text: string, isTarget: boolean, elements: readonly Placed[]): Placed[] {
  return elements.map(({ element, form, text: said, fragments }) => {
    const at = isTarget ? null : placeIn(text, said)
    const found = at ? toWire(text, [at]).map(({ start, end }) => ({ start, end })) : []
    return { element, form, text: said, fragments: isTarget ? fragments : found }
  })
}

/** An element with its ranges in a text. */
export interface ElementMark {
  element: ElementKey
  ranges: readonly Range[]
}

/** Marks of elements by their stored ranges. */
export function elementMarks(text: string, pico: readonly Placed[]): ElementMark[] {
  return pico.filter((s) => s.fragments.length).map((s) => ({ element: s.element, ranges: fromWire(text, s.fragments) }))
}

/** Marks of typed elements that are found in a text. */
export function typedMarks(text: string, typed: Readonly<Record<ElementKey, string>>): ElementMark[] {
  return ORDER.flatMap((element) => {
    const { at } = formOf(typed[element], text)
    return at ? [{ element, ranges: [at] }] : []
  })
}

/** Elements as lines under a text, with their letters. */
export function underlined(marks: readonly ElementMark[]): Mark[] {
  return spansUnderlined(marks.map((s) => ({ ranges: s.ranges, tag: s.element.toUpperCase() })))
}
