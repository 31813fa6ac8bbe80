/** What a planned round comes to, in sentences. */

import type { Schemas } from '../api/client.ts'
import { count, counted, duration } from './format.ts'

type Totals = Schemas['RoundTotals']

/** "120 answers, 40 each, about 25 min at 35 s" */
export function totalsSentence(t: Totals): string {
  const each = t.each ? `, ${Number.isInteger(t.each) ? count(t.each) : `about ${count(Math.round(t.each))}`} each` : ''
  const time = t.minutes_each && t.seconds_an_answer ? `, about ${duration(t.minutes_each * 60)} at ${duration(t.seconds_an_answer)}` : ''
  return `${counted(t.answers, 'answer')}${each}${time}`
}

/** What the button freezes: "Open: freezes 40 units, guideline 2, seed 7" */
export function freezes(units: number | null, guideline: number | null, seed: number): string {
  const what = units === null ? 'the units' : counted(units, 'unit')
  return `Open: freezes ${what}, guideline ${guideline ?? 1}, seed ${seed}`
}

/** What keeps a plan from being opened, as a sentence; empty where nothing does. */
export function obstacle(plan: { name: string; people: number[]; overlap: number }, totals: Totals | null): string {
  if (!plan.name.trim()) return 'Give the round a name.'
  if (!plan.people.length) return 'Choose who works in it.'
  if (plan.people.length < plan.overlap)
    return `Each unit needs ${plan.overlap} people, and ${plan.people.length === 1 ? 'only one is' : `only ${plan.people.length} are`} chosen.`
  if (totals && !totals.units) return 'No unit is left by these filters.'
  return ''
}
