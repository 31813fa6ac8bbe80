/** The pilot and bar that a planned round waits for. */

import type { Schemas } from '../../api/client.ts'

type Gate = Schemas['GatePlanRequest']
export type Pilot = Schemas['Pilot']

/** Default number of a bar. */
const NUMBER = 0.6

export class GatePlanning {
  /** Round that is the pilot; null for none. */
  pilot = $state<number | null>(null)
  measure = $state('')
  coefficient = $state<Gate['coefficient']>('ac1')
  requires = $state<NonNullable<Gate['requires']>>('lower bound')
  number = $state<number | null>(NUMBER)
  least = $state<number | null>(null)

  clear(): void {
    this.pilot = null
    this.measure = ''
  }

  /** Keep field and coefficient if the pilot has them; otherwise choose its first ones. */
  fit(pilot: Pilot): void {
    const measure = pilot.measures.find((m) => m.name === this.measure) ?? pilot.measures[0]
    if (!measure) return
    this.measure = measure.name
    const coefficient = measure.coefficients.find((c) => c.key === this.coefficient) ?? measure.coefficients[0]!
    this.coefficient = coefficient.key as Gate['coefficient']
    if (!coefficient.has_interval) this.requires = 'value'
  }

  /** Part of the plan; null without a complete bar. */
  readonly plan = $derived.by<Gate | null>(() => {
    if (this.pilot === null || !this.measure || this.number === null) return null
    return { pilot: this.pilot, measure: this.measure, coefficient: this.coefficient, requires: this.requires, number: this.number, least_units: this.least ?? 0 }
  })
}
