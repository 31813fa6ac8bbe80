/** Labels on the curate page: two values entered by key, two cues marked in the editor. */

import { fromWire, type Range } from '../../text/offsets.ts'
import type { Claim, KindColumns } from '../columns.ts'
import { cardOf } from './card.ts'
import { cueMarks } from './marks.ts'
import { keysOf, newRow } from './newRow.ts'
import { begin, quote, toValue, type Value } from './state.ts'
import { lacks, putCue, putValue, type LabelSaid } from './typed.ts'
import { glyph, MODALITIES, POLARITIES } from './values.ts'

function currentValue({ text, label }: Claim): LabelSaid {
  return {
    text,
    polarity: label.polarity?.value ?? '',
    modality: label.modality?.value ?? '',
    polarityCue: fromWire(text, label.polarity_cue?.value?.fragments ?? []),
    modalityCue: fromWire(text, label.modality_cue?.value?.fragments ?? []),
  }
}

function sameRanges(a: readonly Range[], b: readonly Range[]): boolean {
  return a.length === b.length && a.every((r, i) => r.start === b[i]!.start && r.end === b[i]!.end)
}

function inWords(s: LabelSaid): string {
  const cue = (range: readonly Range[]) => (range.length ? ` “${quote(s.text, range)}”` : '')
  return `${glyph(s.polarity)} ${s.polarity || 'no polarity'}${cue(s.polarityCue)}, ${s.modality || 'no modality'}${cue(s.modalityCue)}`.trim()
}

const value = (s: LabelSaid): Value => toValue({ text: s.text, candidates: null }, s)

const columns: KindColumns<Claim, LabelSaid> = {
  kind: 'label',
  of: 'propositions',
  order: 20,
  columns: [
    {
      key: 'polarity', title: 'Polarity', wide: '6.5rem', opens: true, keys: keysOf(POLARITIES), show: (s) => s.polarity,
      put: (s, text) => putValue(s, 'polarity', text),
    },
    {
      key: 'polarity_cue', title: 'Polarity cue', wide: 'minmax(7.5rem, 2fr)', opens: true, reading: true, show: (s) => quote(s.text, s.polarityCue),
      put: (s, text) => putCue(s, 'polarity', text),
    },
    {
      key: 'modality', title: 'Modality', wide: '6.75rem', opens: true, keys: keysOf(MODALITIES), show: (s) => s.modality,
      put: (s, text) => putValue(s, 'modality', text),
    },
    {
      key: 'modality_cue', title: 'Modality cue', wide: 'minmax(7.5rem, 2fr)', opens: true, reading: true, show: (s) => quote(s.text, s.modalityCue),
      put: (s, text) => putCue(s, 'modality', text),
    },
  ],
  begin: currentValue,
  follow: (said, claim) => (said.text === claim.text ? said : currentValue(claim)),
  state: (claim) => claim.label,
  hasCurrentValue: ({ label }) => Boolean(label.polarity || label.modality),
  origin: ({ label }) => (label.polarity ?? label.modality)?.origin ?? null,
  same: (a, b) =>
    a.polarity === b.polarity && a.modality === b.modality && sameRanges(a.polarityCue, b.polarityCue) && sameRanges(a.modalityCue, b.modalityCue),
  lacks,
  value,
  words: inWords,
  marks: cueMarks,
  columnOf: (path) => ['polarity_cue', 'modality_cue', 'modality'].find((name) => path.split('.').includes(name)) ?? 'polarity',
  editor: {
    card: (claim, cluster, said) => cardOf(
      {
        unit: claim.unit, text: claim.text, position: claim.position, shown: claim.label.shown,
        cluster: { key: cluster.key, unit_name: cluster.unit_name, size: cluster.propositions.length, pico: cluster.tuple.elements },
      },
      said.polarity && said.modality ? value(said) : null,
    ),
    take: (said, made) => {
      const { polarity, modality, polarityCue, modalityCue } = begin(said.text, made as Value)
      return { text: said.text, polarity, modality, polarityCue, modalityCue }
    },
  },
  newRow,
}
export default columns
