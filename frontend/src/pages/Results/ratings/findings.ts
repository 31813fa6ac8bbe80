/**
 * Findings of a round in words, by rules. Only tested contrasts are stated:
 *
 * 1. The leading group is the best system and those that do not differ from it.
 * 2. "Every other system" is said only if each system of the group differs from each other system.
 * 3. Otherwise only those systems are named from which each of the group differs.
 *
 * A criterion to which no rule applies is left out. Criteria with the same contrast share a sentence.
 */

import type { Schemas } from '../../../api/client.ts'
import { decimal, interval, listed, percent } from '../../../components/format.ts'
import { named, type Finding, type Part } from '../../../components/finding.ts'
import { bestOf, pairOf, sorted } from './ratings.ts'

type Criterion = Schemas['CriterionFigures']

export interface Contrast {
  /** Leading group, best first. */
  leaders: string[]
  /** The systems that each of the group differs from. */
  below: string[]
  /** Whether these are all other systems. */
  every: boolean
}

/** The contrast of the leading group, or null if no rule applies. */
export function contrastOf(criterion: Criterion, order: readonly string[]): Contrast | null {
  const systems = sorted(criterion, order).filter((s) => s.value !== null).map((s) => s.system)
  const [best] = systems
  if (!criterion.better || systems.length < 2 || best === undefined) return null
  const differ = (a: string, b: string) => pairOf(criterion, a, b)?.different ?? false
  const leaders = systems.filter((s) => s === best || !differ(best, s))
  const others = systems.filter((s) => !leaders.includes(s))
  const below = others.filter((s) => leaders.every((leader) => differ(leader, s)))
  return below.length ? { leaders, below, every: below.length === others.length } : null
}

/** The tested finding of a round, or null. */
export function testedFinding(figures: Schemas['RatingFigures'], now: Schemas['Ratings'], criteria: readonly Criterion[]): Finding | null {
  const groups = new Map<string, { contrast: Contrast; lower: boolean; names: string[] }>()
  for (const criterion of criteria) {
    const contrast = contrastOf(criterion, now.systems)
    if (!contrast) continue
    const lower = criterion.better === 'lower'
    // Systems in one order, so that the same contrast of two criteria is said once.
    const key = JSON.stringify([contrast.leaders.toSorted(), contrast.below.toSorted(), lower])
    const name = figures.names[criterion.criterion] ?? criterion.criterion
    const group = groups.get(key)
    if (group) group.names.push(name)
    else groups.set(key, { contrast, lower, names: [name] })
  }
  if (!groups.size) return null
  const parts: Part[] = []
  for (const { contrast, lower, names } of groups.values()) {
    const verb = contrast.leaders.length === 1 ? 'is' : 'are'
    const others = contrast.every && contrast.below.length > 1 ? 'every other system' : listed(contrast.below)
    const of = `${lower ? 'lower (better)' : 'higher'} than ${others} in ${listed(names.map((name) => name.toLowerCase() === name.toUpperCase() ? name : name.charAt(0).toLowerCase() + name.slice(1)))}`
    parts.push({ words: parts.length ? '; ' : '' }, ...named(contrast.leaders), { words: ` ${verb} rated ${of}` })
  }
  parts.push({ words: '.' })
  return { parts: parts.filter((part) => part.words), note: `Paired permutation tests over ${now.sources} reviews, Holm-corrected within each criterion, p < .05.` }
}

/** Fewest texts of a column's systems for a best value: a share of few texts is not compared. */
export const FEWEST_TEXTS = 10

/** Shares without a test in words: which system has the best share of each criterion, with its count and interval. */
export function describedShares(criteria: readonly (Criterion & { name: string })[]): Finding | null {
  const parts: Part[] = []
  for (const criterion of criteria) {
    const compared = criterion.systems.filter((s) => s.n >= FEWEST_TEXTS)
    const best = bestOf({ better: criterion.better, systems: compared })
    const figure = compared.find((s) => s.system === best)
    if (!best || !figure || figure.value === null) continue
    const ci = interval(figure.ci?.map((end) => end * 100), 0)
    const counted = figure.count === undefined ? `n = ${figure.n}` : `${figure.count} of ${figure.n}`
    parts.push({ words: parts.length ? '; ' : '' }, { words: best, strong: true }, { words: ` has the ${criterion.better === 'lower' ? 'lowest' : 'highest'} share of ${criterion.name} (${[counted, percent(figure.value), ci && `95% CI ${ci}`].filter(Boolean).join(', ')})` })
  }
  if (!parts.length) return null
  return { parts: [...parts, { words: '.' }].filter((part) => part.words), note: 'Descriptive: differences are not tested.' }
}

/** The best system of a table's first columns in words, without a test. */
export function describedTable(table: Pick<Schemas['ResultTable'], 'columns' | 'rows'>, tested: boolean): Finding | null {
  const MOST = 3
  const bySystem = new Map<string, string[]>()
  const compared = table.columns.flatMap((column, at) => {
    const row = column.numeric ? table.rows.find((cells) => cells[at]?.best) : undefined
    return row ? [{ system: row[0]!.text, figure: `${column.title.replace(/ ?[↑↓]$/, '')} (${row[at]!.text.replace(/ [a-z]+$/, '')})` }] : []
  })
  for (const { system, figure } of compared.slice(0, MOST)) bySystem.set(system, [...(bySystem.get(system) ?? []), figure])
  const parts: Part[] = []
  for (const [system, figures] of bySystem) parts.push({ words: parts.length ? '; ' : '' }, { words: system, strong: true }, { words: ` has the best ${listed(figures)}` })
  if (!parts.length) return null
  return { parts: [...parts, { words: '.' }].filter((part) => part.words), note: `Descriptive: means of each system.${tested ? ' Tests are under Pairwise differences.' : ' Differences are not tested.'}` }
}

/** Directions of texts against references in words. */
export function describedDirections(systems: readonly Schemas['SystemDirections'][]): Finding | null {
  const best = bestOf({ better: 'higher', systems: systems.map((s) => ({ system: s.system, value: s.accuracy })) })
  const found = systems.find((s) => s.system === best)
  if (!found) return null
  const of = (n: number) => decimal(n, Number.isInteger(n) ? 0 : 1)
  const ci = interval(found.ci?.map((end) => end * 100), 0)
  return {
    parts: [{ words: found.system, strong: true }, { words: ` states the direction of the reference most often (${of(found.correct)} of ${of(found.n)}, ${percent(found.accuracy)}${ci && `, 95% CI ${ci}`}).` }],
    note: 'Descriptive: differences are not tested.',
  }
}
