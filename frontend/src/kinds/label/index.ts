import type { KindDefinition } from '../kind.ts'
import { MODALITIES, POLARITIES } from './values.ts'

const signs = Object.fromEntries(POLARITIES.map((p) => [p.value, p.glyph || '∅']))
const NO_CUE = 'no cue'

/** The label of a proposition: polarity and modality, each with its cue. */
const label = {
  key: 'label',
  usual: true,
  inStudies: true,
  unit: 'Proposition',
  noun: 'label',
  missing: 'a label',
  said: (field, value, brief = false) => {
    if (!field.endsWith('_cue')) return signs[value] ? `${signs[value]} ${value}` : value
    if (value === NO_CUE) return brief ? '' : value
    return `“${value}”`
  },
  signs,
  // A modality is shown by its key.
  strip: { ...signs, ...Object.fromEntries(MODALITIES.map((m) => [m.value, m.key])) },
  spans: 'cues',
  fields: ['polarity', 'modality', 'polarity_cue', 'modality_cue'],
  ratings: { columns: ['polarity', 'polarity_cue', 'modality', 'modality_cue'] },
  task: () => import('./task.ts'),
  tutorial: () => import('./tutorial.ts'),
  columns: () => import('./columns.ts'),
  currentValues: () => import('./currentValues.ts'),
} satisfies KindDefinition
export default label
