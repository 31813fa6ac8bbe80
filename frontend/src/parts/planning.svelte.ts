/** A round that is being planned: what the form holds, and the plan that it comes to. */

import type { Schemas } from '../api/client.ts'

export type Plan = Schemas['RoundPlanRequest']
export type Filters = Schemas['RoundFiltersRequest']
export type Which = 'all' | 'filter' | 'sample' | 'stratified'

/** Only the filters that are set. */
export function narrowed(filters: Filters): Filters {
  return Object.fromEntries(
    Object.entries(filters)
      .map(([name, value]) => [name, typeof value === 'string' ? value.trim() : value] as const)
      .filter(([, value]) => value),
  )
}

export class Planning {
  kind = $state<Plan['kind']>('label')
  name = $state('')
  purpose = $state<Plan['purpose']>('gold')
  which = $state<Which>('all')
  filters = $state<Filters>({})
  sample = $state<number | null>(40)
  strata = $state<string[]>([])
  seed = $state<number | null>(1)
  people = $state<number[]>([])
  overlap = $state<number | null>(1)
  dealing = $state<NonNullable<Plan['dealing']>>('pool')
  guideline = $state<number | null>(null)
  cues = $state<Plan['cues']>('overlap')
  order = $state<Plan['order']>('corpus')
  suggestions = $state(false)

  readonly plan = $derived<Plan>({
    name: this.name.trim(),
    kind: this.kind,
    purpose: this.purpose,
    overlap: this.overlap || 1,
    people: this.people,
    guideline: this.guideline,
    dealing: this.dealing,
    seed: this.seed ?? 0,
    order: this.order,
    cues: this.cues,
    suggestions: this.suggestions,
    lease_seconds: 1800,
    sample: this.which === 'sample' || this.which === 'stratified' ? this.sample || 1 : null,
    strata: this.which === 'stratified' ? this.strata : [],
    filters: this.which === 'all' ? {} : narrowed(this.filters),
  })
}
