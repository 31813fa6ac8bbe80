/** The values of a label with their keys and signs. */

import type { Modality, Polarity, Value } from './state.ts'

export const POLARITIES: readonly { value: Polarity; key: string; glyph: string }[] = [
  { value: 'positive', key: 'A', glyph: '+' },
  { value: 'no effect', key: 'S', glyph: '=' },
  { value: 'negative', key: 'D', glyph: '−' },
  { value: 'n/a', key: '', glyph: '' },
]
export const MODALITIES: readonly { value: Modality; key: string }[] = [
  { value: 'strong', key: '1' },
  { value: 'moderate', key: '2' },
  { value: 'weak', key: '3' },
  { value: 'no evidence', key: '4' },
]

export function glyph(polarity: Polarity | ''): string {
  return POLARITIES.find((p) => p.value === polarity)?.glyph ?? ''
}

/** Each value with its cue, so that a wrong cue is noticed in the list of last answers. */
export function inWords(value: Value | null): string {
  if (!value) return ''
  const cue = (found: Value['polarity_cue']) => (found?.length ? ` – “${found.map((f) => f.quote).join(' … ')}”` : '')
  return `${glyph(value.polarity)} ${value.polarity}${cue(value.polarity_cue)}, ${value.modality}${cue(value.modality_cue)}`.trim()
}
