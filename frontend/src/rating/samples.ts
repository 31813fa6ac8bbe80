/** Sample pages for tests: protocols shaped like the shipped ones, with invented texts. */

import type { Criterion, Option, Page, Protocol } from './protocol.ts'

const options = (...labels: string[]): Option[] => labels.map((label, n) => ({ value: String(n + 1), label: String(n + 1), anchor: label }))
const named = (...labels: string[]): Option[] => labels.map((label) => ({ value: label, label, anchor: `it is ${label}` }))

export function criterion(key: string, more: Partial<Criterion> = {}): Criterion {
  return {
    key, name: key[0]!.toUpperCase() + key.slice(1), standard: key, group: '', question: `About ${key}?`, more: '', frame: 'source', beside: '',
    scale: { type: 'likert', options: options('very poor', 'poor', 'fair', 'good', 'very good') }, na: true, na_label: 'N/A', required: true,
    reason: { ask: 'none', required_at: [] }, shown_if: null, prefill: [], examples: [], ...more,
  }
}
const categorical = (key: string, labels: string[], more: Partial<Criterion> = {}) =>
  criterion(key, { na: false, scale: { type: 'categorical', options: named(...labels) }, ...more })

export function protocol(criteria: Criterion[], more: Partial<Protocol> = {}): Protocol {
  return {
    title: 'A protocol', instructions: '', show: { query: true, source: true, target: 'none' }, hints: false, groups: [], criteria, ...more,
  }
}

export const guideline = protocol([
  criterion('coherence'), criterion('relevance'), categorical('consistency', ['Consistent', 'Not consistent'], { na: true, reason: { ask: 'offered', required_at: [] } }),
])

const same = ['same', 'differs']
const slots = ['population', 'intervention', 'comparator', 'outcome'] as const
export const m3 = protocol([
  categorical('claim', ['yes', 'no claim']),
  ...slots.map((slot) => categorical(slot, same, { group: 'pico', na: true, beside: slot })),
  categorical('polarity', same, { na: true, beside: 'polarity', prefill: [{ if: { criterion: 'claim', values: ['no claim'] }, target: [], value: null, na: true }] }),
  categorical('modality', same, { beside: 'modality', prefill: [
    { if: { criterion: 'claim', values: ['no claim'] }, target: ['no evidence'], value: 'same', na: false },
    { if: { criterion: 'claim', values: ['no claim'] }, target: [], value: 'differs', na: false },
  ] }),
  criterion('hallucination', { na: false, scale: { type: 'spans', options: [{ value: 'hallucination', label: 'Hallucination', anchor: 'not in the inputs' }], reason: 'none' } }),
  categorical('repetition', ['none', 'repeats']),
  criterion('comment', { na: false, required: false, scale: { type: 'text', options: [] } }),
], {
  show: { query: false, source: true, target: 'gold' },
  groups: [{ key: 'pico', name: 'PICO', question: 'As in the target?', by_exception: true }],
})

const STUDIES = [
  { title: 'First study', text: 'Drug A gives similar pressure reduction to drug B in adults. It costs less.' },
  { title: '', text: 'Success rates were higher with drug B at night. TGF-𝛽2 was raised 𝑛 = 40 times. No harm was seen.' },
]
export const TEXTS = [
  'Drug A and drug B were equally effective in young children over 5 years.',
  'There is not enough evidence on TGF-𝛽2 to support or refute the use of drug A.',
]

export function page(of: Protocol, texts: readonly string[] = TEXTS): Page {
  return {
    protocol: of, texts: texts.map((text, n) => ({ key: `9f3a01b${n}`, text })),
    source: { query: of.show.query ? 'Does drug A lower pressure?' : '', title: 'Drug A', studies: STUDIES },
    target: of.show.target === 'none' ? null : {
      text: 'Drug A and drug B lower pressure alike.', polarity: 'no effect', modality: 'moderate',
      slots: [
        { slot: 'p', text: 'adults', form: 'implied' }, { slot: 'i', text: 'drug A', form: 'explicit' }, { slot: 'c', text: '', form: 'blank' },
        { slot: 'o', text: 'pressure', form: 'explicit' },
      ],
    },
  }
}
