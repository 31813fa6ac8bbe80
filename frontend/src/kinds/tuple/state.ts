/** A typed PICO tuple: four texts, and the meaning of a blank comparator. */

import type { Schemas } from '../../api/client.ts'
import { formOf } from '../../pico/form.ts'
import type { StandsFor } from '../../pico/elementInput.ts'
import { ORDER, type ElementKey } from '../../pico/elements.ts'

export type Card = Schemas['TupleCard']
export type Value = Schemas['TupleValue']
type Shown = Pick<Schemas['CurrentElement'], 'element' | 'text' | 'stands_for'>

export type Typed = Readonly<Record<ElementKey, string>> & {
  /** Meaning of a blank comparator, or ''. */
  readonly standsFor: StandsFor
}

/** The current PICO tuple as typed text. */
export function typedOf(elements: readonly Shown[]): Typed {
  const text = (element: ElementKey) => elements.find((s) => s.element === element)?.text ?? ''
  return { p: text('p'), i: text('i'), c: text('c'), o: text('o'), standsFor: elements.find((s) => s.element === 'c')?.stands_for ?? '' }
}

/** Initial state: the answer, otherwise the current value if it is shown. */
export function begin({ value, current }: Pick<Card, 'value' | 'current'>): Typed {
  if (!value) return typedOf(current ?? [])
  return { p: value.p.text, i: value.i.text, c: value.c.text, o: value.o.text, standsFor: value.c.stands_for ?? '' }
}

/** A draft; earlier versions of this page stored its texts under `texts`. */
export function resumed(draft: unknown): Typed | null {
  const kept = draft as (Partial<Typed> & { texts?: Record<ElementKey, string> }) | null
  if (!kept) return null
  const { p = '', i = '', c = '', o = '' } = kept.texts ?? kept
  return { p, i, c, o, standsFor: kept.standsFor ?? '' }
}

/** The missing part in words, or empty. */
export function lacks(typed: Typed): string {
  return ORDER.some((element) => typed[element].trim()) ? '' : 'an element'
}

/** The API value, without spaces around elements. */
export function toValue(typed: Typed): Value {
  const element = (name: ElementKey) => ({ text: typed[name].trim(), fragments: [] })
  const c = element('c')
  return { p: element('p'), i: element('i'), c: { ...c, stands_for: c.text ? '' : typed.standsFor }, o: element('o') }
}

/** The meaning of a blank comparator typed as "= placebo"; undefined for other text. */
export function standsForOf(text: string): StandsFor | undefined {
  return /^=\s*(placebo|none|not stated)\s*$/i.exec(text)?.[1]?.toLowerCase() as StandsFor | undefined
}

/** How an element relates to the target text, in words. */
export function formInWords(text: string, target: string): string {
  const { form } = formOf(text, target)
  return { explicit: 'in the text', reworded: 'reworded: not verbatim in the text' }[form as string] ?? form
}

export function inWords(value: Value | null): string {
  return value ? ORDER.map((s) => `${s.toUpperCase()}: ${value[s].text || 'blank'}`).join('; ') : ''
}
