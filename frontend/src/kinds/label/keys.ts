import type { Binding } from '../../work/keymap.ts'
import { selectKeys } from '../selecting.ts'
import { MODALITIES, POLARITIES } from './values.ts'

/** Keys of the label task. The keys of all tasks (Enter, Z, K, !, M, G, ?) belong to the Work page. */
export const bindings: readonly Binding[] = [
  ...POLARITIES.filter((p) => p.key).map((p) => ({
    keys: [p.key.toLowerCase()], command: `polarity ${p.value}`, says: `Polarity: ${p.value}`, shown: p.key, settles: true,
  })),
  ...MODALITIES.map((m) => ({
    keys: [m.key], command: `modality ${m.value}`, says: `Modality: ${m.value}`, shown: m.key, settles: true,
  })),
  { keys: ['n'], command: 'candidate', says: 'Next candidate cue, if the round shows candidates', shown: 'N' },
  { keys: ['Backspace', 'Delete'], command: 'remove', says: 'Delete the cue under the cursor', shown: 'Backspace' },
  ...selectKeys('cue'),
]
