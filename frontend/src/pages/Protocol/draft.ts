/** Edit a draft of a rating protocol: new parts, order, and renaming with references. */

import type { Schemas } from '../../api/client.ts'

export type Content = Schemas['ProtocolContent']
export type Criterion = Schemas['ProtocolCriterion']
export type Option = Schemas['ProtocolOption']
export type Scale = Schemas['ProtocolScale']
export type Condition = Schemas['ProtocolCondition']
export type Example = Schemas['ProtocolExample']
export type Fault = Schemas['Fault']
export type ScaleType = Scale['type']

export const SCALE_WORDS: Record<ScaleType, string> = {
  likert: 'Points (Likert)', categorical: 'Categories, one of them', 'multi-label': 'Labels, any of them', slider: 'Slider',
  spans: 'Marked passages', text: 'Free text', preference: 'Left or right', 'best-worst': 'Best and worst',
}
/** The scale of kinds that have only one. */
export const SCALE_OF_KIND: Partial<Record<Content['kind'], ScaleType>> = { compare: 'preference', best_worst: 'best-worst' }
/** Scale types of a protocol of this kind. */
export const typesOf = (kind: Content['kind']): ScaleType[] =>
  SCALE_OF_KIND[kind] ? [SCALE_OF_KIND[kind]] : (Object.keys(SCALE_WORDS) as ScaleType[]).filter((t) => !Object.values(SCALE_OF_KIND).includes(t))
/** Common names of summary quality criteria, as suggestions. */
export const STANDARD = [
  'coherence', 'fluency', 'relevance', 'informativeness', 'factual consistency', 'hallucination', 'non-redundancy',
  'direction of effect', 'correctness of direction', 'correctness of modality', 'PICO correctness', 'strength of claim',
  'evidentiality', 'overall quality', 'factual and linguistic errors',
]

export function emptyContent(kind: Content['kind']): Content {
  return {
    schema: 1, kind, title: '', instructions: '', show: { query: true, source: true, target: 'none' }, texts_per_page: 'all',
    hints: false, derives: '', groups: [], criteria: [],
  }
}

const option = (value: string, label = value): Option => ({ value, label, anchor: '' })

export function freshScale(type: ScaleType): Scale {
  const scale: Scale = { type, options: [], minimum: null, maximum: null, step: null, severities: [], reason: 'none' }
  if (type === 'likert') return { ...scale, options: [1, 2, 3, 4, 5].map((n) => option(String(n))) }
  if (type === 'categorical') return { ...scale, options: [option('yes', 'Yes'), option('no', 'No')] }
  if (type === 'slider') return { ...scale, minimum: 0, maximum: 100, step: 1 }
  if (type === 'spans') return { ...scale, options: [option('error', 'Error')] }
  if (type === 'preference') return { ...scale, options: ['Left', 'Right', 'Tie', 'Neither'].map((l) => option(l.toLowerCase(), l)) }
  if (type === 'best-worst') return { ...scale, options: ['Best', 'Neither', 'Worst'].map((l) => option(l.toLowerCase(), l)) }
  return scale
}

export function freshCriterion(content: Content): Criterion {
  return {
    key: unusedKey('criterion', content.criteria.map((c) => c.key)), name: '', standard: '', group: '', question: '', more: '',
    frame: content.show.source ? 'source' : 'alone', beside: '', scale: freshScale(SCALE_OF_KIND[content.kind] ?? 'likert'),
    na: false, na_label: '', required: true, reason: { ask: 'none', required_at: [] }, shown_if: null, prefill: [],
    better: SCALE_OF_KIND[content.kind] ? null : 'higher', examples: [],
  }
}

export function freshExample(good: boolean): Example {
  return { good, query: '', source: '', summary: '', value: '', explanation: '', marks: [] }
}

/** A key derived from words that is not in use. */
export function unusedKey(words: string, taken: readonly string[]): string {
  const plain = words.normalize('NFKD').toLowerCase().replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-+|-+$/g, '').slice(0, 30).replace(/-+$/, '') || 'criterion'
  let key = plain
  for (let n = 2; taken.includes(key); n++) key = `${plain}-${n}`
  return key
}

/** The value of a new option: the next point, or a word. */
export function nextValue(scale: Scale): string {
  const taken = scale.options.map((o) => o.value)
  if (scale.type === 'likert') return String(Math.max(0, ...taken.map(Number).filter(Number.isFinite)) + 1)
  return unusedKey('option', taken)
}

/** The word of a scale that an option equals by default, ignoring case; empty if there is none. */
export const sameWord = (option: Option, scale: readonly string[]): string => scale.find((word) => word.toLowerCase() === option.value.toLowerCase()) ?? ''

/** Values of a criterion that conditions can refer to; '' is not applicable. */
export function valuesOf(criterion: Criterion): { value: string; label: string }[] {
  const { type, options } = criterion.scale
  const named = type === 'spans' ? [{ value: 'none', label: 'none' }, { value: 'marked', label: 'marked' }] : options.map((o) => ({ value: o.value, label: o.label || o.value }))
  return criterion.na && named.length ? [...named, { value: '', label: criterion.na_label || 'N/A' }] : named
}

/** Move an element of a list by one; return false at its ends. */
export function move<T>(list: T[], from: number, by: -1 | 1): boolean {
  const to = from + by
  if (to < 0 || to >= list.length) return false
  const [one] = list.splice(from, 1)
  list.splice(to, 0, one!)
  return true
}

function conditions(content: Content): Condition[] {
  return content.criteria.flatMap((c) => [...(c.shown_if ? [c.shown_if] : []), ...c.prefill.map((p) => p.if)])
}

/** Rename the key of a criterion, with all references. */
export function renameKey(content: Content, from: string, to: string): void {
  for (const condition of conditions(content)) if (condition.criterion === from) condition.criterion = to
  const found = content.criteria.find((c) => c.key === from)
  if (found) found.key = to
}

/** Rename the value of an option, with all references. */
export function renameValue(content: Content, criterion: Criterion, option: Option, to: string): void {
  const from = option.value
  const renamed = (values: string[]) => values.map((v) => (v === from ? to : v))
  option.value = to
  if (Array.isArray(criterion.better)) criterion.better = renamed(criterion.better)
  criterion.reason.required_at = renamed(criterion.reason.required_at)
  for (const prefill of criterion.prefill) if (prefill.value === from) prefill.value = to
  for (const example of criterion.examples) if (example.value === from) example.value = to
  for (const condition of conditions(content)) if (condition.criterion === criterion.key) condition.values = renamed(condition.values)
}

/** Remove a criterion and the conditions on it. */
export function removeCriterion(content: Content, index: number): void {
  const [gone] = content.criteria.splice(index, 1)
  for (const c of content.criteria) {
    if (c.shown_if?.criterion === gone?.key) c.shown_if = null
    c.prefill = c.prefill.filter((p) => p.if.criterion !== gone?.key)
  }
}

/** Change the scale type and reset what depends on it. */
export function changeScale(criterion: Criterion, type: ScaleType): void {
  criterion.scale = freshScale(type)
  criterion.better = type === 'likert' || type === 'slider' ? 'higher' : null
  criterion.reason.required_at = []
  criterion.prefill = []
  for (const example of criterion.examples) example.value = ''
}

/** Index of the criterion in a path of the server, or -1. */
export function criterionOf(path: string): number {
  return Number(/^criteria\.(\d+)/.exec(path)?.[1] ?? -1)
}

/** Parse JSON, which the server then checks; null if it is not valid. */
export function readJson(text: string): Schemas['ProtocolContentRequest'] | null {
  try {
    return JSON.parse(text) as Schemas['ProtocolContentRequest']
  } catch {
    return null
  }
}
