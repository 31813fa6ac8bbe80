/** What the Results page works out from figures of ratings. */

import type { Schemas } from '../api/client.ts'
import { decimal, interval, percent } from './format.ts'

type Criterion = Schemas['CriterionFigures']

/** What a system came to by a criterion. */
export function cellOf(criterion: Criterion, system: string): Schemas['SystemFigure'] | undefined {
  return criterion.systems.find((s) => s.system === system)
}

interface Valued {
  system: string
  value: number | null
}

/** The best of several that have a direction; null where two are even, or fewer than two have a figure. */
export function bestOf({ better, systems }: { better: string; systems: readonly Valued[] }): string | null {
  const there = systems.flatMap((s) => (s.value === null ? [] : [{ system: s.system, value: s.value }]))
  if (!better || there.length < 2) return null
  const sign = better === 'lower' ? -1 : 1
  const [first, second] = there.toSorted((a, b) => sign * (b.value - a.value))
  return first!.value === second!.value ? null : first!.system
}

/** Best first, what has no figure last; of those that are even in the order of the round's list. */
export function sorted<T extends Valued>({ better, systems }: { better: string; systems: readonly T[] }, order: readonly string[]): T[] {
  const sign = better === 'lower' ? -1 : 1
  return systems.toSorted((a, b) => {
    if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null)
    return sign * (b.value - a.value) || order.indexOf(a.system) - order.indexOf(b.system)
  })
}

/** "4.12", or "72 %" of a share. */
export function printed({ kind }: { kind: string }, value: number | null): string {
  return kind === 'share' ? percent(value) : decimal(value)
}

/** The interval below a figure, in its unit: "[3.93, 4.32]", "[60, 82]". */
export function between({ kind }: { kind: string }, ci: readonly number[] | null): string {
  return kind === 'share' && ci ? interval(ci.map((end) => end * 100), 0) : interval(ci)
}

/** What one system has over another: points of a share, else as it is. */
export function difference({ kind }: { kind: string }, value: number | null): string {
  return kind === 'share' && value !== null ? decimal(value * 100, 0) : decimal(value)
}

export interface Pair {
  value: number | null
  ci: readonly number[] | null
  n: number
  p: number | null
  holm: number | null
  different: boolean
}

/** The pair of two systems, the first less the second, whichever way round it is stored. */
export function pairOf(criterion: Criterion, first: string, second: string): Pair | null {
  for (const pair of criterion.pairs) {
    const { value, ci, n } = pair.comparison.difference
    const rest = { n, p: pair.comparison.p, holm: pair.holm, different: pair.different }
    if (pair.first === first && pair.second === second) return { value, ci, ...rest }
    if (pair.first === second && pair.second === first) return { value: value === null ? null : -value, ci: ci ? [-ci[1]!, -ci[0]!] : null, ...rest }
  }
  return null
}

export type Printed = Schemas['PrintedMetric']
const PLAIN: Printed = { label: '', scale: 1, decimals: 2, better: '', headline: true }

/** How a metric is printed. What is stored of it may be older than that. */
export function howPrinted(figures: Schemas['RatingFigures'], metric: string): Printed {
  return figures.printed[metric] ?? { ...PLAIN, label: metric }
}

/** Metrics in the order in which Concord lists them, those first that it knows how to print. */
export function inOrder(figures: Schemas['RatingFigures'], found: readonly string[]): string[] {
  const known = Object.keys(figures.printed)
  return [...known.filter((m) => found.includes(m)), ...found.filter((m) => !known.includes(m))]
}

/** A round's results, as the tables of the Results page have them. */
export interface Rated {
  round: string
  figures: Schemas['RatingFigures']
  now: Schemas['Ratings']
  criteria: readonly Criterion[]
}

/** The metrics that a table shows, in their order: the figures by which each is known, or every one; and whether there are more. */
export function shownOf(figures: Schemas['RatingFigures'], found: readonly string[], every: boolean): { shown: string[]; more: boolean } {
  const known = (metric: string) => howPrinted(figures, metric).headline
  return { shown: inOrder(figures, found).filter((m) => every || known(m)), more: !found.every(known) }
}

/** A metric's value as its tables print it: "23.7" of 0.237. */
export function metricPrinted(how: Printed, value: number | null): string {
  return decimal(value === null ? null : value * how.scale, how.decimals)
}

/** The interval below it. */
export function metricBetween(how: Printed, ci: readonly number[] | null): string {
  return interval(ci?.map((end) => end * how.scale), how.decimals)
}

export interface SystemPoint {
  system: string
  x: number
  y: number
  xCi: readonly number[] | null
  yCi: readonly number[] | null
}

/** Systems that have both a metric's mean and a criterion's. */
export function systemPoints(figures: Schemas['Ratings'], criterion: Criterion, metric: string): SystemPoint[] {
  const given = figures.metrics.find((m) => m.metric === metric)?.systems ?? []
  return given.flatMap((m) => {
    const said = cellOf(criterion, m.system)
    return m.value === null || !said || said.value === null ? [] : [{ system: m.system, x: m.value, y: said.value, xCi: m.ci, yCi: said.ci }]
  })
}

/** Texts that have both: `system` is a place in the round's list. */
export function textPoints(figures: Schemas['Ratings'], criterion: string, metric: string): { system: number; x: number; y: number }[] {
  const { system, criteria, metrics } = figures.points
  return system.flatMap((place, i) => {
    const x = metrics[metric]?.[i] ?? null
    const y = criteria[criterion]?.[i] ?? null
    return x === null || y === null ? [] : [{ system: place, x, y }]
  })
}

/** "Coherence: 4, Good" */
export function labelOf(criteria: readonly Schemas['AskedCriterion'][], rating: Schemas['ExampleRating']): string {
  const criterion = criteria.find((c) => c.key === rating.criterion)
  const label = rating.na ? 'N/A' : (criterion?.values.find((v) => v.value === rating.value)?.label ?? rating.value)
  const said = rating.na || label === rating.value ? label : `${rating.value}, ${label}`
  return `${criterion?.name ?? rating.criterion}: ${said}`
}
