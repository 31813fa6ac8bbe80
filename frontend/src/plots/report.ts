/** The agreement report in rows, sentences and tables. */

import type { Schemas } from '../api/client.ts'
import type { KindDefinition } from '../kinds/kind.ts'
import { count, counted, decimal, interval, percent } from '../parts/format.ts'

export type Measure = Schemas['CitedMeasure']

export const NAMES: readonly [Exclude<keyof Schemas['Coefficients'], 'cohen_pairs'>, string][] = [
  ['percent_agreement', 'Percent agreement'],
  ['ac1', "Gwet's AC1"],
  ['ac2', "Gwet's AC2"],
  ['fleiss', "Fleiss' kappa"],
  ['conger', "Conger's kappa"],
  ['brennan_prediger', 'Brennan-Prediger'],
  ['alpha', "Krippendorff's alpha"],
  ['alpha_weighted', "Krippendorff's alpha, weighted"],
]

export interface Row {
  key: string
  name: string
  n: number
  value: number | null
  /** The interval to cite: over reviews wherever some have several units. */
  ci: readonly number[] | null
  se: number | null
  /** Why there is no interval to cite; empty where there is one. */
  noInterval: string
  /** The interval over units, and its standard error: too narrow where units of one review are alike. */
  unitsCi: readonly number[] | null
  unitsSe: number | null
  method: string
  bootstrap: readonly number[] | null
  /** Why there is no value; empty where there is one. */
  undefined: string
}

/** A row a coefficient, those that are undefined too, with their reason. */
export function rows(m: Measure): Row[] {
  return NAMES.flatMap(([key, name]) => {
    const found = m.coefficients[key]
    const why = m.undefined[key]
    if (!found && !why) return []
    const cited = found?.reviews ?? found
    return [{
      key, name, n: m.units, value: found?.value ?? null, ci: cited?.ci ?? null, se: cited?.se ?? null,
      noInterval: found?.reviews?.undefined ?? '', unitsCi: found?.ci ?? null, unitsSe: found?.se ?? null,
      method: found?.method ?? '', bootstrap: found?.bootstrap_ci ?? null, undefined: found ? '' : why!,
    }]
  })
}

/** "0.84 [0.75, 0.92], n = 40", or the reason why not. */
export function figure(row: Pick<Row, 'value' | 'ci' | 'n' | 'undefined'>): string {
  if (row.value === null) return `– ${row.undefined}`
  return [decimal(row.value), interval(row.ci)].filter(Boolean).join(' ') + `, n = ${count(row.n)}`
}

/** Which interval to cite, where there are two, and how it is taken. */
export function citing(m: Measure): string {
  if (m.cite === 'units') return ''
  const { coefficients, percent_agreement: share } = m.reviews_method
  return `${counted(m.units, 'unit')} of ${counted(m.reviews ?? 0, 'review')}: units of one review are alike. Cite the interval over reviews; the interval over units is too narrow, and so is the bootstrap where reviews are few. Over reviews: ${coefficients}; percent agreement: ${share}.`
}

/** The measure in one sentence, every number with its n. */
export function sentence(m: Measure): string {
  if (!m.ratings) return 'There is no answer to measure yet.'
  const all = m.all_agree.of
    ? `All agree on ${count(m.all_agree.count)} of ${counted(m.all_agree.of, 'unit')} (${percent(m.all_agree.count / m.all_agree.of)})`
    : 'No unit has two answers yet'
  const pairwise = m.pairwise === null ? '' : `; any two agree on ${percent(m.pairwise)} of what both rated`
  return `${all}${pairwise}. ${counted(m.ratings, 'rating')} of ${counted(m.units, 'unit')} by ${counted(m.raters, 'person', 'people')}.`
}

/** A warning of the report as a sentence; the coefficient that it is of by its name. */
export function warning(said: string): string {
  const [key, name] = NAMES.find(([each]) => said.startsWith(`${each}: `)) ?? ['', '']
  const words = name + said.slice(key.length)
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
}

type Signs = Pick<KindDefinition, 'signs' | 'strip'> | undefined

/** What one value looks like in a strip of glyphs, by its kind; the word where there is none. */
export function glyph(kind: Signs, value: string): string {
  return kind?.strip?.[value] ?? kind?.signs?.[value] ?? value
}

/** What the glyphs of a scale stand for. */
export function legend(kind: Signs, scale: readonly string[]): string {
  return scale.filter((v) => glyph(kind, v) !== v).map((v) => `${glyph(kind, v)} ${v}`).join(', ')
}

/** What most people said of a unit, where more than half of them say the same: whoever says something else stands apart. */
export function majority(ratings: readonly { value: string }[]): string | null {
  return ratings.find((r) => 2 * ratings.filter((other) => other.value === r.value).length > ratings.length)?.value ?? null
}
