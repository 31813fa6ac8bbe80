/** Changes of a rewriting for display: replaced words, and a warning with the PICO elements touched. */

import type { Change } from '../../components/texts/counterfactuals.ts'
import { ELEMENTS, type ElementKey } from '../../pico/elements.ts'
import { toCodePoints } from '../../text/offsets.ts'
import { difference } from './wordEdits.ts'

export function changesOf(target: string, text: string, touched: readonly (readonly ElementKey[])[] = []): Change[] {
  return difference(target, text).edits.map((edit, n) => ({
    start: toCodePoints(text, edit.text.start),
    end: toCodePoints(text, edit.text.end),
    was: target.slice(edit.target.start, edit.target.end),
    warning: (touched[n] ?? []).map((element) => ELEMENTS[element]).join(', '),
  }))
}
