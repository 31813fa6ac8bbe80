/** Parse a label typed into cells: values by their first letters, cues by their words. */

import { locate } from '../../pico/form.ts'
import type { Range } from '../../text/offsets.ts'
import { quote, withValue, type Aspect, type Modality, type Polarity, type Said } from './state.ts'
import { MODALITIES, POLARITIES } from './values.ts'

/** A label with its text. */
export interface LabelSaid extends Said {
  readonly text: string
}

export const saidNothing = (text: string): LabelSaid => ({ text, polarity: '', modality: '', polarityCue: [], modalityCue: [] })

export function putValue(said: LabelSaid, aspect: Aspect, text: string): LabelSaid | string {
  const word = text.trim().toLowerCase().replace(/^[+=−]\s*/, '')
  if (word === said[aspect]) return said
  if (!word) return said.polarity === 'n/a' ? saidNothing(said.text) : { ...said, [aspect]: '', [`${aspect}Cue`]: [] }
  const all: readonly (Polarity | Modality)[] = (aspect === 'polarity' ? POLARITIES : MODALITIES).map((v) => v.value)
  const found = all.find((v) => v === word) ?? only(all.filter((v) => v.startsWith(word)))
  return found ? { text: said.text, ...withValue(said, aspect, found) } : `“${text}” is not a ${aspect}: use ${all.join(', ')}.`
}

function only<T>(found: readonly T[]): T | undefined {
  return found.length === 1 ? found[0] : undefined
}

/** Set a cue from words, which are located in the text of the same row. */
export function putCue(said: LabelSaid, aspect: Aspect, text: string): LabelSaid | string {
  const key = `${aspect}Cue` as const
  if (text === quote(said.text, said[key])) return said
  if (!text.trim()) return { ...said, [key]: [] }
  if (aspect === 'polarity' && said.polarity === 'n/a') return 'A label without evidence has no polarity cue. Leave it out.'
  const ranges: Range[] = []
  for (const piece of text.split(/\s*…\s*/)) {
    const at = locate(said.text, piece.trim(), ranges.at(-1)?.end ?? 0)
    if (!at) return `“${piece.trim()}” is not in this text.`
    ranges.push(at)
  }
  return { ...said, [key]: ranges }
}

/** Missing values of a label, in words. */
export function lacks(said: Said): string {
  return [said.polarity ? '' : 'polarity', said.modality ? '' : 'modality'].filter(Boolean).join(' and ')
}
