/** What is drawn on the text of a proposition. */

import type { Mark } from '../../text/segments.ts'
import { selected } from '../../text/selection.ts'
import type { SlotMark } from '../../pico/slots.ts'
import type { Facts, Said, State } from './state.ts'
import { glyph } from './values.ts'

/** In the editor: three channels and the selection. */
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

/** Where the text is only read: the cues of a label, each with its value. */
export function cueMarks(said: Said): Mark[] {
  return [
    { channel: 'fill', ranges: said.polarityCue, tag: glyph(said.polarity) },
    { channel: 'over', ranges: said.modalityCue, tag: said.modality },
  ]
}
