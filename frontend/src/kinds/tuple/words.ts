/** PICO tuples as they are typed. */

import type { Schemas } from '../../api/client.ts'
import { SLOTS } from '../label/words.ts'
import { formOf as relate } from './form.ts'

export type Card = Schemas['TupleCard']
export type Value = Schemas['TupleValue']
export type Slot = keyof typeof SLOTS
export type StandsFor = NonNullable<Value['c']['stands_for']>

export const NAMES = SLOTS
export const ORDER = Object.keys(SLOTS) as Slot[]
export const STANDS_FOR: readonly { value: StandsFor; says: string }[] = [
  { value: '', says: 'blank' },
  { value: 'placebo', says: 'blank: placebo' },
  { value: 'none', says: 'blank: no treatment' },
  { value: 'not stated', says: 'blank: not stated' },
]

export interface Typed {
  texts: Record<Slot, string>
  standsFor: StandsFor
}

export function begin(card: Card): Typed {
  const shown = (slot: Slot) => card.value?.[slot].text ?? card.in_force?.find((s) => s.slot === slot)?.text ?? ''
  const texts = Object.fromEntries(ORDER.map((slot) => [slot, shown(slot)])) as Record<Slot, string>
  return { texts, standsFor: card.value?.c.stands_for ?? card.in_force?.find((s) => s.slot === 'c')?.stands_for ?? '' }
}

/** The value as it is sent: spaces around a slot are the keyboard's, not the text's. */
export function toValue(typed: Typed): Value {
  const slot = (name: Slot) => ({ text: typed.texts[name].trim(), fragments: [] })
  const c = slot('c')
  return { p: slot('p'), i: slot('i'), c: { ...c, stands_for: c.text ? '' : typed.standsFor }, o: slot('o') }
}

/** How a slot relates to the target text, in words for under its field. */
export function formOf(text: string, target: string): string {
  const { form } = relate(text, target)
  return { explicit: 'in the text', reworded: 'reworded: not word for word in the text' }[form as string] ?? form
}

export function inWords(value: Value | null): string {
  return value ? ORDER.map((s) => `${s.toUpperCase()}: ${value[s].text || 'blank'}`).join('; ') : ''
}

export function inShort(card: Card): string {
  return card.cluster
}
