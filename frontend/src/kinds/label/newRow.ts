/** The label in the row of a new proposition: complete or absent. */

import type { NewRow } from '../columns.ts'
import { toValue } from './state.ts'
import { lacks, putCue, putValue, saidNothing, type LabelSaid } from './typed.ts'
import { MODALITIES, POLARITIES } from './values.ts'

export const keysOf = (all: readonly { value: string; key: string }[]) =>
  Object.fromEntries(all.filter((v) => v.key).map((v) => [v.key.toLowerCase(), v.value]))

const STEPS: readonly [string, (said: LabelSaid, text: string) => LabelSaid | string][] = [
  ['polarity', (said, text) => putValue(said, 'polarity', text)],
  ['polarity_cue', (said, text) => putCue(said, 'polarity', text)],
  ['modality', (said, text) => putValue(said, 'modality', text)],
  ['modality_cue', (said, text) => putCue(said, 'modality', text)],
]

export const newRow: NewRow = {
  before: false,
  property: 'label',
  fields: [
    { key: 'polarity', title: 'Polarity', keys: keysOf(POLARITIES) },
    { key: 'polarity_cue', title: 'Polarity cue', also: ['polarity cues'] },
    { key: 'modality', title: 'Modality', keys: keysOf(MODALITIES) },
    { key: 'modality_cue', title: 'Modality cue', also: ['modality cues'] },
  ],
  read: (row, fault) => {
    let said = saidNothing(row.text ?? '')
    let isWrong = false
    for (const [field, put] of STEPS) {
      const typed = row[field] ?? ''
      if (!typed.trim()) continue
      const before = said
      const is = put(said, typed)
      if (typeof is === 'string') {
        fault(field, is)
        isWrong = true
      } else said = is
      // "No evidence" sets polarity to n/a; an explicit other polarity contradicts it.
      if (field === 'modality' && before.polarity && said.polarity !== before.polarity) {
        fault('polarity', 'Expected polarity n/a exactly if the modality is no evidence.')
        isWrong = true
      }
    }
    const hasLabel = said.polarity || said.modality || said.polarityCue.length || said.modalityCue.length
    if (isWrong || !hasLabel) return null
    const missing = lacks(said)
    if (!missing) return toValue({ text: said.text, candidates: null }, said)
    fault(said.polarity ? 'modality' : 'polarity', `Add ${missing}, or leave the label empty.`)
    return null
  },
}
