/** The agreement report in rows, sentences and tables. */

import type { Schemas } from '../api/client.ts'
import type { KindDefinition } from '../kinds/kind.ts'
import { count, counted, decimal, interval, listed, percent } from '../components/format.ts'

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
  /** The interval, over reviews. */
  ci: readonly number[] | null
  se: number | null
  /** Why the interval is withheld, or empty. */
  noInterval: string
  /** The standard error over units, which is too small if units of one review are correlated. */
  unitsSe: number | null
  method: string
  /** Why there is no value, or empty. */
  undefined: string
}

/** One row per coefficient, including undefined ones with their reason. */
export function rows(m: Measure): Row[] {
  return NAMES.flatMap(([key, name]) => {
    const found = m.coefficients[key]
    const why = m.undefined[key]
    if (!found && !why) return []
    return [{
      key, name, n: m.units, value: found?.value ?? null, ci: found?.ci ?? null, se: found?.ci_se ?? null,
      noInterval: found?.ci_reason ?? '', unitsSe: found?.se ?? null,
      method: found?.method ?? '', undefined: found ? '' : why!,
    }]
  })
}

export interface Figure {
  value: number | null
  ci: readonly number[] | null
  /** Why the interval is withheld, or empty. */
  noInterval: string
  n: number
  /** Why there is no value, or empty. */
  undefined: string
}

/** The unweighted and the weighted form of each coefficient of an ordered scale, Cohen's kappas of pairs last. */
export function forms(m: Measure): { name: string; unweighted: Figure; weighted: Figure }[] {
  const u = m.unweighted
  if (!u) return []
  const one = (from: Pick<Measure, 'coefficients' | 'undefined' | 'units'>, key: (typeof NAMES)[number][0]): Figure => {
    const found = from.coefficients[key]
    return { value: found?.value ?? null, ci: found?.ci ?? null, noInterval: found?.ci_reason ?? '', n: from.units, undefined: found ? '' : (from.undefined[key] ?? 'not enough ratings') }
  }
  const both: [string, (typeof NAMES)[number][0], (typeof NAMES)[number][0]][] = [
    ['Percent agreement', 'percent_agreement', 'percent_agreement'], ["Gwet's AC1, AC2", 'ac1', 'ac2'], ["Fleiss' kappa", 'fleiss', 'fleiss'],
    ["Conger's kappa", 'conger', 'conger'], ['Brennan-Prediger', 'brennan_prediger', 'brennan_prediger'],
  ]
  const pair = (of: Measure['coefficients']['cohen_pairs'], raters: readonly string[]): Figure => {
    const found = of.find((each) => each.raters.join() === raters.join())
    return { value: found?.value ?? null, ci: found?.ci ?? null, noInterval: found?.ci_reason ?? '', n: found?.units ?? 0, undefined: found?.undefined ?? 'not enough ratings' }
  }
  return [
    ...both.map(([name, plain, weighted]) => ({ name, unweighted: one(u, plain), weighted: one(m, weighted) })),
    ...u.coefficients.cohen_pairs.map(({ raters }) => ({
      name: `Cohen's kappa, ${raters.join(' and ')}`, unweighted: pair(u.coefficients.cohen_pairs, raters), weighted: pair(m.coefficients.cohen_pairs, raters),
    })),
  ]
}

/** Which of the two forms to cite, and why. */
export function citedForm(m: Measure): string {
  const beside = (m.unweighted?.ratings ?? 0) - m.ratings
  const left = beside > 0 ? ` The weighted form excludes ${counted(beside, 'rating')} outside the scale (N/A, other).` : ''
  return `Cite the ${m.cite_form} form.${left}`
}

/** "0.84 [0.75, 0.92], n = 40", or the reason why not. */
export function figure(row: Pick<Row, 'value' | 'ci' | 'n' | 'undefined'> & Partial<Pick<Row, 'noInterval'>>): string {
  if (row.value === null) return `– ${row.undefined}`
  return [decimal(row.value), interval(row.ci) || row.noInterval].filter(Boolean).join(' ') + `, n = ${count(row.n)}`
}

/** Coefficients without an interval, one sentence per reason. */
export function withheld(found: readonly Row[]): string[] {
  const reasons = [...new Set(found.map((r) => r.noInterval).filter(Boolean))]
  return reasons.map((why) => `${listed(found.filter((r) => r.noInterval === why).map((r) => r.name))}: ${why}.`)
}

/** Forms without an interval, one sentence per reason. */
export function withheldForms(found: ReturnType<typeof forms>): string[] {
  const all = found.flatMap(({ name, unweighted, weighted }) =>
    unweighted.noInterval === weighted.noInterval
      ? [{ name, why: weighted.noInterval }]
      : [{ name: `${name} (unweighted)`, why: unweighted.noInterval }, { name: `${name} (weighted)`, why: weighted.noInterval }],
  )
  const reasons = [...new Set(all.map((each) => each.why).filter(Boolean))]
  return reasons.map((why) => `${listed(all.filter((each) => each.why === why).map((each) => each.name))}: ${why}.`)
}

/** Clustering and method of the intervals. */
export function citing(m: Measure): string {
  const over = m.cite === 'units' ? counted(m.units, 'unit') : `${counted(m.units, 'unit')} of ${counted(m.reviews ?? 0, 'review')} (units of one review are correlated)`
  return `Intervals over ${over}. Method: ${m.interval_method}. Intervals with unreliable coverage are withheld.`
}

/** The measure in one sentence, every number with its n. */
export function sentence(m: Measure): string {
  if (!m.ratings) return 'No answers yet.'
  const all = m.all_agree.of
    ? `All raters agree on ${count(m.all_agree.count)} of ${counted(m.all_agree.of, 'unit')} (${percent(m.all_agree.count / m.all_agree.of)})`
    : 'No unit has two answers yet'
  const pairwise = m.pairwise === null ? '' : `; mean pairwise agreement ${percent(m.pairwise)}`
  return `${all}${pairwise}. ${counted(m.ratings, 'rating')} of ${counted(m.units, 'unit')} by ${counted(m.raters, 'person', 'people')}.`
}

/** A warning of the report as a sentence, with the name of its coefficient. */
export function warning(said: string): string {
  const [key, name] = NAMES.find(([each]) => said.startsWith(`${each}: `)) ?? ['', '']
  const words = name + said.slice(key.length)
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
}

type Signs = Pick<KindDefinition, 'signs' | 'strip'> | undefined

/** Glyph of a value, or the value itself. */
export function glyph(kind: Signs, value: string): string {
  return kind?.strip?.[value] ?? kind?.signs?.[value] ?? value
}

/** Legend of the glyphs of a scale. */
export function legend(kind: Signs, scale: readonly string[]): string {
  return scale.filter((v) => glyph(kind, v) !== v).map((v) => `${glyph(kind, v)} ${v}`).join(', ')
}

/** The majority value of a unit (more than half of the ratings), or null. */
export function majority(ratings: readonly { value: string }[]): string | null {
  return ratings.find((r) => 2 * ratings.filter((other) => other.value === r.value).length > ratings.length)?.value ?? null
}
