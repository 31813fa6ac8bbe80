/** Derive what the Results page shows from rating figures. */

import type { Schemas } from '../../../api/client.ts'
import { capital, decimal, interval, listed, percent } from '../../../components/format.ts'

type Criterion = Schemas['CriterionFigures']

/** The figure of a system by a criterion. */
export function cellOf(criterion: Criterion, system: string): Schemas['SystemFigure'] | undefined {
  return criterion.systems.find((s) => s.system === system)
}

interface Valued {
  system: string
  value: number | null
}

/** The best system; null without a direction, with a tie, or with fewer than two values. */
export function bestOf({ better, systems }: { better: string; systems: readonly Valued[] }): string | null {
  const scored = systems.flatMap((s) => (s.value === null ? [] : [{ system: s.system, value: s.value }]))
  if (!better || scored.length < 2) return null
  const sign = better === 'lower' ? -1 : 1
  const [first, second] = scored.toSorted((a, b) => sign * (b.value - a.value))
  return first!.value === second!.value ? null : first!.system
}

const M3_NAMES: Readonly<Record<string, string>> = { pico: 'PICO' }

/** Name of a criterion that was derived from others: "PICO" for m3:pico, "All correct" for "m3:all correct". */
export function derivedName(criterion: string): string {
  const key = criterion.slice(criterion.indexOf(':') + 1)
  return M3_NAMES[key] ?? capital(key)
}

/** Whether no two systems were shown to differ: all share a letter, or none has one. */
export function isOneGroup({ letters }: { letters: Readonly<Record<string, string>> }): boolean {
  const [first = '', ...others] = Object.values(letters)
  return !first || [...first].some((letter) => others.every((own) => own.includes(letter)))
}

/** Sort best first, missing values last, ties in the order of the round's list. */
export function sorted<T extends Valued>({ better, systems }: { better: string; systems: readonly T[] }, order: readonly string[]): T[] {
  const sign = better === 'lower' ? -1 : 1
  return systems.toSorted((a, b) => {
    if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null)
    return sign * (b.value - a.value) || order.indexOf(a.system) - order.indexOf(b.system)
  })
}

/** "4.12", or "72%" for a share. */
export function printed({ kind }: { kind: string }, value: number | null): string {
  return kind === 'share' ? percent(value) : decimal(value)
}

/** The interval below a figure, in its unit: "[3.93, 4.32]", "[60, 82]". */
export function between({ kind }: { kind: string }, ci: readonly number[] | null): string {
  return kind === 'share' && ci ? interval(ci.map((end) => end * 100), 0) : interval(ci)
}

/** Reasons for withheld intervals, each with its columns. */
export function whyWithheld(columns: readonly { name: string; systems: readonly ({ ci?: readonly number[] | null; ci_reason?: string | null } | null | undefined)[] }[]): string[] {
  const names = new Map<string, Set<string>>()
  for (const { name, systems } of columns)
    for (const system of systems) {
      if (!system?.ci_reason || system.ci) continue
      const why = system.ci_reason.startsWith('no reliable interval') ? system.ci_reason : `no reliable interval (${system.ci_reason})`
      names.set(why, (names.get(why) ?? new Set()).add(name))
    }
  return [...names].map(([why, those]) => `${listed([...those])}: ${why}.`)
}

/** Difference of two systems: percentage points for a share, otherwise the value. */
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

/** First minus second system, in either stored order. */
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

/** How a metric is printed; a default for stored metrics that are no longer known. */
export function howPrinted(figures: Schemas['RatingFigures'], metric: string): Printed {
  return figures.printed[metric] ?? { ...PLAIN, label: metric }
}

/** Metrics in Concord's order, unknown ones last. */
export function inOrder(figures: Schemas['RatingFigures'], found: readonly string[]): string[] {
  const known = Object.keys(figures.printed)
  return [...known.filter((m) => found.includes(m)), ...found.filter((m) => !known.includes(m))]
}

/** Properties of the tables of a round on the Results page. */
export interface Rated {
  round: string
  figures: Schemas['RatingFigures']
  now: Schemas['Ratings']
  criteria: readonly Criterion[]
}

/** The metrics that a table shows, headline figures only unless `every`, and whether there are more. */
export function shownOf(figures: Schemas['RatingFigures'], found: readonly string[], every: boolean): { shown: string[]; more: boolean } {
  const known = (metric: string) => howPrinted(figures, metric).headline
  return { shown: inOrder(figures, found).filter((m) => every || known(m)), more: !found.every(known) }
}

/** A metric's value as printed in tables: "23.7" for 0.237. */
export function metricPrinted(how: Printed, value: number | null): string {
  return decimal(value === null ? null : value * how.scale, how.decimals)
}

/** The interval of a metric as printed in tables. */
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

/** Systems with both a metric mean and a rating mean. */
export function systemPoints(figures: Schemas['Ratings'], criterion: Criterion, metric: string): SystemPoint[] {
  const scores = figures.metrics.find((m) => m.metric === metric)?.systems ?? []
  return scores.flatMap((m) => {
    const printedCell = cellOf(criterion, m.system)
    return m.value === null || !printedCell || printedCell.value === null ? [] : [{ system: m.system, x: m.value, y: printedCell.value, xCi: m.ci, yCi: printedCell.ci }]
  })
}

/** Texts with both values; `system` is an index in the round's list. */
export function textPoints(figures: Schemas['Ratings'], criterion: string, metric: string): { system: number; x: number; y: number }[] {
  const { system, criteria, metrics } = figures.points
  return system.flatMap((place, i) => {
    const x = metrics[metric]?.[i] ?? null
    const y = criteria[criterion]?.[i] ?? null
    return x === null || y === null ? [] : [{ system: place, x, y }]
  })
}

/** "4, Good"; only the label if the value is the same word. */
export function valueOf(criteria: readonly Schemas['AskedCriterion'][], rating: Schemas['ExampleRating']): string {
  if (rating.na) return 'N/A'
  const label = criteria.find((c) => c.key === rating.criterion)?.values.find((v) => v.value === rating.value)?.label ?? rating.value
  return label.toLowerCase() === rating.value.toLowerCase() ? label : `${rating.value}, ${label}`
}

/** "Coherence: 4, Good" */
export function labelOf(criteria: readonly Schemas['AskedCriterion'][], rating: Schemas['ExampleRating']): string {
  return `${criteria.find((c) => c.key === rating.criterion)?.name ?? rating.criterion}: ${valueOf(criteria, rating)}`
}
