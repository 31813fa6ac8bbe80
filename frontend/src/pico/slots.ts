/** The four slots of a PICO tuple: their names, a tuple in one line, and where it stands in a text. */

import type { Schemas } from '../api/client.ts'
import { fromWire, toWire, type Range } from '../text/offsets.ts'
import type { Mark } from '../text/segments.ts'
import { formOf, placeIn } from './form.ts'

export const SLOTS = { p: 'Population', i: 'Intervention', c: 'Comparator', o: 'Outcome' } as const
export type Slot = keyof typeof SLOTS
export const ORDER = Object.keys(SLOTS) as Slot[]

/** A slot with the places where it was marked. */
type Placed = Schemas['PicoSlot']
type Shown = Pick<Placed, 'slot' | 'form' | 'text'>

/** What is shown of a slot: implied text stands in [brackets], a blank slot is empty. */
export function slotText(pico: readonly Shown[], slot: Slot): string {
  const found = pico.find((s) => s.slot === slot)
  if (!found || found.form === 'blank') return ''
  return found.form === 'implied' && !found.text.startsWith('[') ? `[${found.text}]` : found.text
}

/** Whether a slot says something that does not stand word for word in the text. */
export function isReworded(pico: readonly Placed[], slot: Slot): boolean {
  return slotText(pico, slot) !== '' && !pico.find((s) => s.slot === slot)?.fragments.length
}

/** The tuple as a sentence begins: "bevacizumab, against ranibizumab → visual acuity". */
export function inShort(pico: readonly Shown[]): string {
  const against = slotText(pico, 'c')
  return `${slotText(pico, 'i') || '…'}${against ? `, against ${against}` : ''} → ${slotText(pico, 'o') || '…'}`
}

/** A tuple as it stands in a text. The places that come with it are those of the target. */
export function tupleIn(text: string, isTarget: boolean, slots: readonly Placed[]): Placed[] {
  return slots.map(({ slot, form, text: said, fragments }) => {
    const at = isTarget ? null : placeIn(text, said)
    const found = at ? toWire(text, [at]).map(({ start, end }) => ({ start, end })) : []
    return { slot, form, text: said, fragments: isTarget ? fragments : found }
  })
}

export interface SlotMark {
  slot: Slot
  ranges: readonly Range[]
  lane: 1 | 2
}

/** Slots with their places, one that overlaps an earlier one in the second lane. */
export function inLanes(found: readonly { slot: Slot; ranges: readonly Range[] }[]): SlotMark[] {
  let end = 0
  const sorted = [...found].sort((a, b) => a.ranges[0]!.start - b.ranges[0]!.start || b.ranges[0]!.end - a.ranges[0]!.end)
  return sorted.map((s) => {
    const lane = s.ranges[0]!.start < end ? 2 : 1
    end = Math.max(end, ...s.ranges.map((r) => r.end))
    return { ...s, lane }
  })
}

/** Where the slots were marked in a text. */
export function slotMarks(text: string, pico: readonly Placed[]): SlotMark[] {
  return inLanes(pico.filter((s) => s.fragments.length).map((s) => ({ slot: s.slot, ranges: fromWire(text, s.fragments) })))
}

/** Where slots stand in a text as they are typed. */
export function typedMarks(text: string, typed: Readonly<Record<Slot, string>>): SlotMark[] {
  return inLanes(ORDER.flatMap((slot) => {
    const { at } = formOf(typed[slot], text)
    return at ? [{ slot, ranges: [at] }] : []
  }))
}

/** The same as lines under a text that is only read. */
export function underlined(marks: readonly SlotMark[]): Mark[] {
  return marks.map((s) => ({ channel: s.lane === 2 ? 'under2' : 'under', ranges: s.ranges, tag: s.slot.toUpperCase() }))
}
