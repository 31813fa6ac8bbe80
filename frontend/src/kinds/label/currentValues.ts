/** Current labels in the corpus. */

import type { CurrentValues } from '../kind.ts'
import { cardOf } from './card.ts'
import CurrentValue from './CurrentValue.svelte'
import label from './index.ts'
import { cueMarks } from './marks.ts'
import { saidOf } from './stored.ts'
import { MODALITIES, POLARITIES } from './values.ts'

const currentValues: CurrentValues = {
  of: 'propositions',
  order: 7,
  view: CurrentValue,
  marks: (_, proposition) => cueMarks(saidOf(proposition)),
  isDecided: (_, proposition) => Boolean(proposition?.polarity),
  card: (cluster, p) => {
    const place = { unit: p.unit, text: p.text, position: p.position, shown: p.shown }
    const value = p.polarity && p.modality
      ? {
          polarity: p.polarity.value, modality: p.modality.value,
          polarity_cue: p.polarity_cue?.value?.fragments ?? [], modality_cue: p.modality_cue?.value?.fragments ?? [],
        }
      : null
    return cardOf({ ...place, cluster: { key: cluster.key, unit_name: cluster.unit_name, size: cluster.propositions.length, pico: cluster.pico } }, value)
  },
  filters: [
    { name: 'polarity', title: 'Polarity', values: POLARITIES.map((p) => p.value) },
    { name: 'modality', title: 'Modality', values: MODALITIES.map((m) => m.value) },
  ],
  inRow: {
    foot: (row) => `${row.polarity ? label.said('polarity', row.polarity.value) : 'no polarity yet'}, ${row.modality?.value ?? 'no modality yet'}`,
    inputs: (row) => row.input_polarities,
  },
}
export default currentValues
