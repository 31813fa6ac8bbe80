/** Labels and propositions in words. */

import { fromWire, toWire, type Range } from '../../text/offsets.ts'
import { placeIn } from '../tuple/form.ts'
import type { Mark } from '../../text/segments.ts'
import type { Facts, Said, State } from './state.ts'
import { selected } from '../../text/selection.ts'
import type { Card, Modality, Polarity, Value } from './state.ts'

export const POLARITIES: readonly { value: Polarity; key: string; glyph: string }[] = [
  { value: 'positive', key: 'A', glyph: '+' },
  { value: 'no effect', key: 'S', glyph: '=' },
  { value: 'negative', key: 'D', glyph: '−' },
  { value: 'n/a', key: '', glyph: '' },
]
export const MODALITIES: readonly { value: Modality; key: string }[] = [
  { value: 'strong', key: '1' },
  { value: 'moderate', key: '2' },
  { value: 'weak', key: '3' },
  { value: 'no evidence', key: '4' },
]
export const SLOTS = { p: 'Population', i: 'Intervention', c: 'Comparator', o: 'Outcome' } as const
type Slot = keyof typeof SLOTS

export function glyph(polarity: Polarity | ''): string {
  return POLARITIES.find((p) => p.value === polarity)?.glyph ?? ''
}

export function inWords(value: Value | null): string {
  return value ? `${glyph(value.polarity)} ${value.polarity}, ${value.modality}`.trim() : ''
}

/** The tuple as it stands in a text. The places that come with a tuple are those of the target. */
export function tupleIn(text: string, isTarget: boolean, slots: readonly Card['pico'][number][]): Card['pico'] {
  return slots.map(({ slot, form, text: said, fragments }) => {
    const at = isTarget ? null : placeIn(text, said)
    const found = at ? toWire(text, [at]).map(({ start, end }) => ({ start, end })) : []
    return { slot, form, text: said, fragments: isTarget ? fragments : found }
  })
}

export function slotText(card: Card, slot: Slot): string {
  const found = card.pico.find((s) => s.slot === slot)
  if (!found || found.form === 'blank') return ''
  return found.form === 'implied' && !found.text.startsWith('[') ? `[${found.text}]` : found.text
}

/** The tuple as a sentence begins: "bevacizumab, against ranibizumab → visual acuity". */
export function inShort(card: Card): string {
  const against = slotText(card, 'c')
  return `${slotText(card, 'i') || '…'}${against ? `, against ${against}` : ''} → ${slotText(card, 'o') || '…'}`
}

/** The rows of the list above the text: always four. */
export function picoRows(card: Card): { slot: Slot; name: string; text: string; note: string }[] {
  return (Object.keys(SLOTS) as Slot[]).map((slot) => {
    const found = card.pico.find((s) => s.slot === slot)
    const text = slotText(card, slot)
    const note = text && !found?.fragments.length ? 'not word for word in this text' : ''
    return { slot, name: SLOTS[slot], text, note }
  })
}

export interface SlotMark {
  slot: Slot
  ranges: Range[]
  lane: 1 | 2
}

/** Where the slots occur in the text; one that overlaps an earlier one is drawn in the second lane. */
export function slotMarks(card: Card): SlotMark[] {
  const found = card.pico
    .filter((s) => s.fragments.length)
    .map((s) => ({ slot: s.slot, ranges: fromWire(card.text, s.fragments) }))
    .sort((a, b) => a.ranges[0]!.start - b.ranges[0]!.start || b.ranges[0]!.end - a.ranges[0]!.end)
  let end = 0
  return found.map((s) => {
    const lane = s.ranges[0]!.start < end ? 2 : 1
    end = Math.max(end, ...s.ranges.map((r) => r.end))
    return { ...s, lane }
  })
}

/** All that is drawn on the text, in three channels and the selection. */
export function marks(f: Facts, state: Said & Pick<State, 'selection'>, slots: readonly SlotMark[]): Mark[] {
  const { kept } = state.selection
  const now = selected({ ...state.selection, kept: [] }, f.words)
  return [
    ...slots.map((s) => ({ channel: s.lane === 2 ? 'pico2' : 'pico', ranges: s.ranges, tag: s.slot.toUpperCase() })),
    { channel: 'polarity', ranges: state.polarityCue, tag: glyph(state.polarity) },
    { channel: 'modality', ranges: state.modalityCue, tag: state.modality },
    { channel: 'candidate', ranges: f.candidates ?? [] },
    { channel: 'kept', ranges: kept },
    { channel: 'selected', ranges: now },
  ]
}
