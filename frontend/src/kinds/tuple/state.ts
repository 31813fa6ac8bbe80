/** A PICO tuple as it is typed, on every page: four texts, and what a blank comparator stands for. */

import type { Schemas } from '../../api/client.ts'
import { formOf } from '../../pico/form.ts'
import type { StandsFor } from '../../pico/said.ts'
import { ORDER, type Slot } from '../../pico/slots.ts'

export type Card = Schemas['TupleCard']
export type Value = Schemas['TupleValue']
type Shown = Pick<Schemas['TupleSlotShown'], 'slot' | 'text' | 'stands_for'>

export type Typed = Readonly<Record<Slot, string>> & {
  /** What a blank comparator means, where it was said. */
  readonly standsFor: StandsFor
}

/** The tuple in force, as it would be typed. */
export function typedOf(slots: readonly Shown[]): Typed {
  const text = (slot: Slot) => slots.find((s) => s.slot === slot)?.text ?? ''
  return { p: text('p'), i: text('i'), c: text('c'), o: text('o'), standsFor: slots.find((s) => s.slot === 'c')?.stands_for ?? '' }
}

/** Where a unit begins: with its answer, else with the tuple in force where it is shown. */
export function begin({ value, in_force }: Pick<Card, 'value' | 'in_force'>): Typed {
  if (!value) return typedOf(in_force ?? [])
  return { p: value.p.text, i: value.i.text, c: value.c.text, o: value.o.text, standsFor: value.c.stands_for ?? '' }
}

/** A draft that may be of an earlier version of this page, which kept the texts by themselves. */
export function resumed(draft: unknown): Typed | null {
  const kept = draft as (Partial<Typed> & { texts?: Record<Slot, string> }) | null
  if (!kept) return null
  const { p = '', i = '', c = '', o = '' } = kept.texts ?? kept
  return { p, i, c, o, standsFor: kept.standsFor ?? '' }
}

/** What is missing before it can be sent, in words; empty where nothing. */
export function lacks(typed: Typed): string {
  return ORDER.some((slot) => typed[slot].trim()) ? '' : 'a slot that is not blank'
}

/** The value as it is sent: spaces around a slot are the keyboard's, not the text's. */
export function toValue(typed: Typed): Value {
  const slot = (name: Slot) => ({ text: typed[name].trim(), fragments: [] })
  const c = slot('c')
  return { p: slot('p'), i: slot('i'), c: { ...c, stands_for: c.text ? '' : typed.standsFor }, o: slot('o') }
}

/** "= placebo" typed into a comparator says what its being blank means; undefined where the text is no such thing. */
export function meant(text: string): StandsFor | undefined {
  return /^=\s*(placebo|none|not stated)\s*$/i.exec(text)?.[1]?.toLowerCase() as StandsFor | undefined
}

/** How a slot relates to the target text, in words for under its field. */
export function formInWords(text: string, target: string): string {
  const { form } = formOf(text, target)
  return { explicit: 'in the text', reworded: 'reworded: not word for word in the text' }[form as string] ?? form
}

export function inWords(value: Value | null): string {
  return value ? ORDER.map((s) => `${s.toUpperCase()}: ${value[s].text || 'blank'}`).join('; ') : ''
}
