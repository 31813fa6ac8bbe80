/** A label on the curate page: two values by their keys, two cues that the label component marks. */

import { fromWire, toWire, type Range } from '../../text/offsets.ts'
import type { Cells, Claim, Cluster } from '../cells.ts'
import { locate } from '../tuple/form.ts'
import { begin as beginState, facts, quote, reduce, type Aspect, type Card, type Modality, type Polarity, type Said, type Value } from './state.ts'
import { glyph, MODALITIES, POLARITIES, tupleIn } from './words.ts'

export interface LabelSaid extends Said {
  readonly text: string
}

function begin(claim: Claim): LabelSaid {
  const { polarity, modality, polarity_cue, modality_cue } = claim.label
  return {
    text: claim.text,
    polarity: polarity?.value ?? '',
    modality: modality?.value ?? '',
    polarityCue: fromWire(claim.text, polarity_cue?.value?.fragments ?? []),
    modalityCue: fromWire(claim.text, modality_cue?.value?.fragments ?? []),
  }
}

/** The label component's own rule decides what a value does to the other one and to the cues. */
function ruled(said: LabelSaid, aspect: Aspect, value: Polarity | Modality): LabelSaid {
  const card = { text: said.text, candidates: null } as unknown as Card
  const state = { ...beginState(said.text), ...said }
  const { polarity, modality, polarityCue, modalityCue } = reduce(
    { ...facts(card, true), words: [] }, state, { do: aspect, value, by: 'arrow' } as Parameters<typeof reduce>[2],
  )
  return { text: said.text, polarity, modality, polarityCue, modalityCue }
}

function putValue(said: LabelSaid, aspect: Aspect, text: string): LabelSaid | string {
  const word = text.trim().toLowerCase().replace(/^[+=−]\s*/, '')
  if (word === said[aspect]) return said
  if (!word) {
    const without = said.polarity === 'n/a'
    return without
      ? { ...said, polarity: '', modality: '', polarityCue: [], modalityCue: [] }
      : { ...said, [aspect]: '', [`${aspect}Cue`]: [] }
  }
  const all: readonly (Polarity | Modality)[] = (aspect === 'polarity' ? POLARITIES : MODALITIES).map((v) => v.value)
  const found = all.find((v) => v === word) ?? only(all.filter((v) => v.startsWith(word)))
  return found ? ruled(said, aspect, found) : `“${text}” is no ${aspect}: ${all.join(', ')}.`
}

function only<T>(found: readonly T[]): T | undefined {
  return found.length === 1 ? found[0] : undefined
}

/** Cues come and go as words: pasted or filled down, they are looked for in the text of their own row. */
function putCue(said: LabelSaid, aspect: Aspect, text: string): LabelSaid | string {
  const key = `${aspect}Cue` as const
  if (text === quote(said.text, said[key])) return said
  if (!text.trim()) return { ...said, [key]: [] }
  if (aspect === 'polarity' && said.polarity === 'n/a') return 'Without evidence there is no polarity to show a cue of.'
  const ranges: Range[] = []
  for (const piece of text.split(/\s*…\s*/)) {
    const at = locate(said.text, piece.trim(), ranges.at(-1)?.end ?? 0)
    if (!at) return `“${piece.trim()}” does not stand in this text.`
    ranges.push(at)
  }
  return { ...said, [key]: ranges }
}

function card(claim: Claim, cluster: Cluster, said: LabelSaid): Card {
  const target = claim.position === 0
  return {
    assignment: 0, kind: 'label', revision: 1, shown: claim.label.shown, position: claim.position, unit: { id: claim.unit, key: cluster.key },
    answered_at: null, outcome: null, comment: '', flag: false, text: claim.text, role: target ? 'target' : 'input', candidates: null,
    pico: tupleIn(claim.text, target, cluster.tuple.slots),
    context: { key: cluster.key, index: claim.position + 1, size: cluster.propositions.length },
    value: said.polarity && said.modality ? value(said) : null,
  }
}

function value(said: LabelSaid): Value {
  if (!said.polarity || !said.modality) throw new Error('A label needs both values.')
  return {
    polarity: said.polarity, modality: said.modality,
    polarity_cue: toWire(said.text, said.polarityCue), modality_cue: toWire(said.text, said.modalityCue),
  }
}

const keysOf = (all: readonly { value: string; key: string }[]) =>
  Object.fromEntries(all.filter((v) => v.key).map((v) => [v.key.toLowerCase(), v.value]))

function sameRanges(a: readonly Range[], b: readonly Range[]): boolean {
  return a.length === b.length && a.every((r, i) => r.start === b[i]!.start && r.end === b[i]!.end)
}

export const labelCells: Cells<Claim, LabelSaid> = {
  kind: 'label',
  columns: [
    {
      key: 'polarity', title: 'Polarity', wide: '7rem', opens: true, keys: keysOf(POLARITIES), show: (s) => s.polarity,
      put: (s, text) => putValue(s, 'polarity', text),
    },
    {
      key: 'polarity_cue', title: 'Polarity cue', wide: 1.5, opens: true, show: (s) => quote(s.text, s.polarityCue),
      put: (s, text) => putCue(s, 'polarity', text),
    },
    {
      key: 'modality', title: 'Modality', wide: '7.25rem', opens: true, keys: keysOf(MODALITIES), show: (s) => s.modality,
      put: (s, text) => putValue(s, 'modality', text),
    },
    {
      key: 'modality_cue', title: 'Modality cue', wide: 1.5, opens: true, show: (s) => quote(s.text, s.modalityCue),
      put: (s, text) => putCue(s, 'modality', text),
    },
  ],
  begin,
  follow: (said, claim) => (said.text === claim.text ? said : begin(claim)),
  state: (claim) => claim.label,
  inForce: (claim) => Boolean(claim.label.polarity || claim.label.modality),
  same: (a, b) =>
    a.polarity === b.polarity && a.modality === b.modality && sameRanges(a.polarityCue, b.polarityCue) && sameRanges(a.modalityCue, b.modalityCue),
  lacks: (s) => [s.polarity ? '' : 'polarity', s.modality ? '' : 'modality'].filter(Boolean).join(' and '),
  value,
  words: (s) => {
    const cue = (range: readonly Range[]) => (range.length ? ` “${quote(s.text, range)}”` : '')
    return `${glyph(s.polarity)} ${s.polarity || 'no polarity'}${cue(s.polarityCue)}, ${s.modality || 'no modality'}${cue(s.modalityCue)}`.trim()
  },
  columnOf: (path) => ['polarity_cue', 'modality_cue', 'modality'].find((name) => path.split('.').includes(name)) ?? 'polarity',
  desk: { kind: 'label', card, take: (said, made) => ofValue(said.text, made as Value) },
}

function ofValue(text: string, made: Value): LabelSaid {
  const { polarity, modality, polarityCue, modalityCue } = beginState(text, made)
  return { text, polarity, modality, polarityCue, modalityCue }
}
