/** The changes of a rewriting as they are drawn: what was there, what took its place, and the slots that it touches. */

import type { Change } from '../../parts/counterfactuals.ts'
import { SLOTS, type Slot } from '../../pico/slots.ts'
import { toCodePoints } from '../../text/offsets.ts'
import { difference } from '../../text/wordEdits.ts'

export function changesOf(target: string, text: string, touched: readonly (readonly Slot[])[] = []): Change[] {
  return difference(target, text).edits.map((edit, n) => ({
    start: toCodePoints(text, edit.text.start),
    end: toCodePoints(text, edit.text.end),
    was: target.slice(edit.target.start, edit.target.end),
    warning: (touched[n] ?? []).map((slot) => SLOTS[slot]).join(', '),
  }))
}
