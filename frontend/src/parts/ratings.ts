/** What the Results page works out from figures of ratings. */

import type { Schemas } from '../api/client.ts'

type Criterion = Schemas['CriterionFigures']

/** What a system came to by a criterion. */
export function cellOf(criterion: Criterion, system: string): Schemas['SystemFigure'] | undefined {
  return criterion.systems.find((s) => s.system === system)
}

/** The best system by a criterion that has a direction; null where two are even, or none has a figure. */
export function bestOf(criterion: Criterion): string | null {
  const there = criterion.systems.flatMap((s) => (s.value === null ? [] : [{ system: s.system, value: s.value }]))
  if (!criterion.better || there.length < 2) return null
  const sign = criterion.better === 'lower' ? -1 : 1
  const [first, second] = there.toSorted((a, b) => sign * (b.value - a.value))
  return first!.value === second!.value ? null : first!.system
}

/** "Coherence: 4, Good" */
export function labelOf(criteria: readonly Schemas['AskedCriterion'][], rating: Schemas['ExampleRating']): string {
  const criterion = criteria.find((c) => c.key === rating.criterion)
  const label = rating.na ? 'N/A' : (criterion?.values.find((v) => v.value === rating.value)?.label ?? rating.value)
  const said = rating.na || label === rating.value ? label : `${rating.value}, ${label}`
  return `${criterion?.name ?? rating.criterion}: ${said}`
}
