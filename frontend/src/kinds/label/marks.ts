/** Marks on the text of a proposition. */

import type { Mark } from '../../text/segments.ts'
import { selected } from '../../text/selection.ts'
import { underlined, type ElementMark } from '../../pico/elements.ts'
import type { Facts, Said, State } from './state.ts'
import { glyph } from './values.ts'

/** In the editor: elements, cues, suggestions and the selection. */
export function marks(f: Facts, state: Said & Pick<State, 'selection'>, elements: readonly ElementMark[]): Mark[] {
  const { kept } = state.selection
  const now = selected({ ...state.selection, kept: [] }, f.words)
  return [
    ...underlined(elements),
    ...cueMarks(state),
    { channel: 'suggested', ranges: f.candidates ?? [] },
    { channel: 'kept', ranges: kept },
    { channel: 'selected', ranges: now },
  ]
}

/** The cues of a label, each with its value. */
export function cueMarks(said: Said): Mark[] {
  return [
    { channel: 'fill', ranges: said.polarityCue, tag: glyph(said.polarity) },
    { channel: 'over', ranges: said.modalityCue, tag: said.modality },
  ]
}
