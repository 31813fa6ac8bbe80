/** The corpus in words and marks, as the pages that only read it draw it. */

import type { Schemas } from '../api/client.ts'
import { fromWire } from '../text/offsets.ts'
import type { Mark } from '../text/segments.ts'

export interface Holding {
  name: string
  n: number
}

/** How much there is, without what there is none of. */
export function holds(s: Schemas['Summary']): Holding[] {
  return [
    { name: 'Reviews', n: s.reviews },
    { name: 'Studies', n: s.studies },
    { name: 'Documents', n: s.documents },
    { name: 'Sentences', n: s.sentences },
    { name: 'Clusters', n: s.clusters },
    { name: 'Propositions', n: s.propositions },
    { name: 'Counterfactuals', n: s.counterfactuals.reduce((sum, c) => sum + c.count, 0) },
  ].filter((h) => h.n > 0)
}

export const GLYPHS: Record<string, string> = {
  positive: '+',
  'no effect': '=',
  negative: '−',
  'n/a': '∅',
  agreement: '≡',
  contradiction: '≠',
}

/** "+ positive"; the word alone where there is no glyph for it. */
export function worded(value: string): string {
  return GLYPHS[value] ? `${GLYPHS[value]} ${value}` : value
}

/** What somebody raised with an answer: all of it, not the first that applies. */
export function raised(answer: { flag: boolean; outcome: string; reason: string; comment: string }): string {
  return [answer.flag ? 'flagged' : '', answer.outcome === 'skipped' ? `skipped: ${answer.reason}` : '', answer.comment ? 'commented' : ''].filter(Boolean).join(', ')
}

export const SLOT_NAMES: Record<Schemas['SlotEnum'], string> = { p: 'Population', i: 'Intervention', c: 'Comparator', o: 'Outcome' }

export const ORIGINS: Record<Schemas['OriginEnum'], string> = {
  imported: 'imported',
  single: 'by one person',
  unanimous: 'unanimous',
  'by majority': 'by majority',
  'decided by a curator': 'decided by a curator',
  contested: 'contested: left to adjudication',
}

/** How a cue was found in the text, as a sentence; empty where there is nothing to say. */
export function foundHow(cue: Schemas['CueValue'] | null | undefined): string {
  if (!cue) return ''
  const several = cue.occurrences > 1 ? `; it occurs ${cue.occurrences} times, the first is drawn` : ''
  return {
    selected: 'selected in the text',
    exact: `found word for word${several}`,
    case: `found in other case${several}`,
    absent: 'not found in the text: nothing is drawn',
  }[cue.found]
}

type Drawn = Pick<Schemas['Proposition'], 'text' | 'polarity' | 'polarity_cue' | 'modality' | 'modality_cue' | 'role'>

/** What is drawn on a proposition: both cues with their values, and for the target the slots of its tuple. */
export function marksOf(p: Drawn, pico: readonly Schemas['CorpusSlot'][]): Mark[] {
  const slots = p.role === 'target' ? pico.filter((s) => s.fragments.length) : []
  let end = 0
  const drawn = slots
    .map((s) => ({ slot: s.slot, ranges: fromWire(p.text, s.fragments) }))
    .sort((a, b) => a.ranges[0]!.start - b.ranges[0]!.start)
    .map((s) => {
      const channel = s.ranges[0]!.start < end ? 'pico2' : 'pico'
      end = Math.max(end, ...s.ranges.map((r) => r.end))
      return { channel, ranges: s.ranges, tag: s.slot.toUpperCase() }
    })
  const polarity = p.polarity_cue?.value?.fragments ?? []
  const modality = p.modality_cue?.value?.fragments ?? []
  return [
    ...drawn,
    { channel: 'polarity', ranges: fromWire(p.text, polarity), tag: GLYPHS[p.polarity?.value ?? ''] ?? '' },
    { channel: 'modality', ranges: fromWire(p.text, modality), tag: p.modality?.value ?? '' },
  ]
}

/** The key of the cluster that a proposition's unit belongs to: "18462575_0/4" is the fourth input of "18462575_0". */
export function clusterOf(unitKey: string): string {
  return unitKey.replace(/\/\d+$/, '')
}
