/** Labels in force as the corpus has them. */

import type { Schemas } from '../../api/client.ts'
import { fromWire } from '../../text/offsets.ts'
import type { Proposition } from '../kind.ts'
import type { Said } from './state.ts'

/** How a cue was found in the text, as a sentence; empty where it is there once, word for word. */
export function foundHow(cue: Schemas['CueValue'] | null | undefined): string {
  if (!cue) return ''
  const several = cue.occurrences > 1 ? `it occurs ${cue.occurrences} times, the first is drawn` : ''
  return {
    selected: 'selected in the text',
    exact: several,
    case: ['found in other case', several].filter(Boolean).join('; '),
    absent: 'not found in the text: nothing is drawn',
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
