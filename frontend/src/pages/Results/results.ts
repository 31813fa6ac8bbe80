/** Derive what the Results page shows from the server's reply. */

import type { Schemas } from '../../api/client.ts'
import { splitInterval } from '../../components/format.ts'
import { acting, type Backend, type Draft } from '../../components/systems/versioning.ts'

type Metric = Schemas['Metric']

/** Group failures by reason. */
export function byReason<T extends { error: string }>(failed: readonly T[], named: (f: T) => string): { reason: string; names: string[] }[] {
  const byKey = new Map<string, string[]>()
  for (const f of failed) byKey.set(f.error, [...(byKey.get(f.error) ?? []), named(f)])
  return [...byKey].map(([reason, names]) => ({ reason, names }))
}

/** A metric's parameters in the shape that the version form takes. */
export function asForm(metric: Metric): Backend {
  const sections = metric.parameters.length ? [{ key: 'params', title: '', parameters: metric.parameters }] : []
  return { key: metric.key, name: metric.name, description: metric.description, no_probe: '', sections }
}

/** Parameters to send: active ones only, empty numbers as null. */
export function paramsOf(metric: Metric, draft: Draft): Record<string, unknown> {
  const values = draft.values.params ?? {}
  return Object.fromEntries(acting(metric.parameters, values).map((p) => [p.name, values[p.name] === '' && p.takes !== 'text' ? null : values[p.name]]))
}

/** A score of one summary with three digits, or a dash. */
export function scoreInWords(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–'
  return Number.isInteger(value) ? String(value) : value.toFixed(3).replace('-', '−')
}

export interface Scorable {
  metric: string
  params: Record<string, unknown>
  runs: number[]
}

/** All missing scores of all tables, without duplicates. */
export function toScore(tables: readonly Schemas['ResultTable'][]): Scorable[] {
  const byKey = new Map<string, Scorable>()
  for (const step of tables.flatMap((t) => t.missing)) {
    if (!step.metric) continue
    const key = `${step.metric} ${JSON.stringify(step.params)}`
    const before = byKey.get(key)?.runs ?? []
    byKey.set(key, { metric: step.metric, params: step.params as Record<string, unknown>, runs: [...new Set([...before, ...step.runs])] })
  }
  return [...byKey.values()]
}

/** Units of all levels that the model of any system was trained on. */
export function seenUnits(results: Pick<Schemas['Results'], 'seen'>): number {
  return results.seen.reduce((sum, level) => sum + level.units, 0)
}

/** A table with its secondary tables: missing steps are not repeated, empty tables are left out. */
export function together(tables: readonly Schemas['ResultTable'][], key: string): Schemas['ResultTable'][] {
  const own = tables.filter((t) => t.key === key)
  const listed = new Set(own.flatMap((t) => t.missing.map((step) => step.sentence)))
  const beside = tables.filter((t) => t.beside === key).map((t) => ({ ...t, missing: t.missing.filter((step) => !listed.has(step.sentence)) }))
  return [...own, ...beside.filter((t) => t.rows.length || t.missing.length)]
}

export interface TableColumn {
  title: string
  /** Names of rows are the texts that tell rows apart. */
  dots: { name: string; value: number | null; ci: number[] | null; shown: string; between: string; undefined: string; noInterval: string }[]
}

/** The columns of a table that have intervals, or reasons why they are withheld. */
export function columnsWithIntervals(table: Pick<Schemas['ResultTable'], 'columns' | 'rows'>): TableColumn[] {
  const labels = table.columns.flatMap((column, at) => (!column.numeric && (at === 0 || new Set(table.rows.map((row) => row[at]!.text)).size > 1) ? [at] : []))
  const names = table.rows.map((row) => labels.map((at) => row[at]!.text).filter(Boolean).join(', '))
  return table.columns.flatMap((column, at) => {
    const cells = table.rows.map((row) => row[at]!)
    if (!column.numeric || !cells.some((cell) => cell.ci || cell.ci_reason)) return []
    const dots = cells.map((cell, i) => {
      const { value, below } = splitInterval(cell.text)
      const name = names.indexOf(names[i]!) === i ? names[i]! : `${names[i]} (${i + 1})`
      return { name, value: cell.value, ci: cell.ci, shown: value, between: below, undefined: cell.undefined, noInterval: cell.ci_reason }
    })
    return [{ title: column.title, dots }]
  })
}
