/** What the page of results works out from what the server says. */

import type { Schemas } from '../api/client.ts'
import { acting, type Backend, type Draft } from './versioning.ts'

type Metric = Schemas['Metric']

/** Failures by what they say, each with what failed of it. */
export function byReason<T extends { error: string }>(failed: readonly T[], named: (f: T) => string): { reason: string; names: string[] }[] {
  const found = new Map<string, string[]>()
  for (const f of failed) found.set(f.error, [...(found.get(f.error) ?? []), named(f)])
  return [...found].map(([reason, names]) => ({ reason, names }))
}

/** A metric's parameters as the form of versions takes them. */
export function asForm(metric: Metric): Backend {
  const sections = metric.parameters.length ? [{ key: 'params', title: '', parameters: metric.parameters }] : []
  return { key: metric.key, name: metric.name, description: metric.description, no_probe: '', sections }
}

/** What is sent of a form: what acts, an empty number as null. */
export function paramsOf(metric: Metric, draft: Draft): Record<string, unknown> {
  const values = draft.values.params ?? {}
  return Object.fromEntries(acting(metric.parameters, values).map((p) => [p.name, values[p.name] === '' && p.takes !== 'text' ? null : values[p.name]]))
}

/** A figure of one summary, as it is read: three digits, or that there is none. */
export function shown(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–'
  return Number.isInteger(value) ? String(value) : value.toFixed(3).replace('-', '−')
}

export interface Scorable {
  metric: string
  params: Record<string, unknown>
  runs: number[]
}

/** What all tables lack together and a worker can score: a metric and its parameters once, each run once. */
export function toScore(tables: readonly Schemas['ResultTable'][]): Scorable[] {
  const found = new Map<string, Scorable>()
  for (const step of tables.flatMap((t) => t.missing)) {
    if (!step.metric) continue
    const key = `${step.metric} ${JSON.stringify(step.params)}`
    const before = found.get(key)?.runs ?? []
    found.set(key, { metric: step.metric, params: step.params as Record<string, unknown>, runs: [...new Set([...before, ...step.runs])] })
  }
  return [...found.values()]
}

/** A table with those that stand beside it: each step that is missing said once, and none that has neither rows nor steps. */
export function together(tables: readonly Schemas['ResultTable'][], key: string): Schemas['ResultTable'][] {
  const own = tables.filter((t) => t.key === key)
  const said = new Set(own.flatMap((t) => t.missing.map((step) => step.sentence)))
  const beside = tables.filter((t) => t.beside === key).map((t) => ({ ...t, missing: t.missing.filter((step) => !said.has(step.sentence)) }))
  return [...own, ...beside.filter((t) => t.rows.length || t.missing.length)]
}
