/** Current labels as stored in the corpus. */

import type { Schemas } from '../../api/client.ts'
import { fromWire } from '../../text/offsets.ts'
import type { Proposition } from '../kind.ts'
import type { Said } from './state.ts'

/** How a cue was found in the text, in words; empty if it occurs once verbatim. */
export function foundHow(cue: Schemas['CueValue'] | null | undefined): string {
  if (!cue) return ''
  const several = cue.occurrences > 1 ? `${cue.occurrences} occurrences, first one marked` : ''
  return {
    selected: 'selected in the text',
    exact: several,
    case: ['different case', several].filter(Boolean).join('; '),
    absent: 'not found in the text',
  }[cue.found]
}

type Labelled = Pick<Proposition, 'text' | 'polarity' | 'polarity_cue' | 'modality' | 'modality_cue'>

export function saidOf(p: Labelled): Said {
  const cue = (gold: Schemas['GoldCue'] | null) => fromWire(p.text, gold?.value?.fragments ?? [])
  return {
    polarity: p.polarity?.value ?? '', modality: p.modality?.value ?? '',
    polarityCue: cue(p.polarity_cue), modalityCue: cue(p.modality_cue),
  }
}
