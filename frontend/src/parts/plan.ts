/** What a planned round comes to, in sentences. */

import type { Schemas } from '../api/client.ts'
import { count, counted, duration } from './format.ts'

type Totals = Schemas['RoundTotals']

/** "120 answers, 40 each, about 25 min" */
export function totalsSentence(t: Totals): string {
  const each = t.each ? `, ${Number.isInteger(t.each) ? count(t.each) : `about ${count(Math.round(t.each))}`} each` : ''
  return `${counted(t.answers, 'answer')}${each}${t.minutes_each ? `, about ${duration(t.minutes_each * 60)}` : ''}`
}

/** What the time rests on: "At 37 s an answer, the median of 500 answers." */
export function paceSentence(t: Totals): string {
  const pace = `${duration(t.seconds_an_answer)} an answer`
  return t.answers_timed ? `At ${pace}, the median of ${counted(t.answers_timed, 'earlier answer')}.` : `No answers yet: ${pace} assumed.`
}

/** What the button freezes: "Open: 40 units × 3, guideline 2, seed 7" */
export function freezes(units: number | null, overlap: number, guideline: number | null, seed: number): string {
  const what = units === null ? 'the units' : counted(units, 'unit')
  return `Open: ${what} × ${overlap}, guideline ${guideline ?? 1}, seed ${seed} cannot change afterwards`
}

/** What keeps a plan from being opened, as a sentence; empty where nothing does. */
export function obstacle(plan: { name: string; people: number[]; overlap: number; sample?: number | null }, totals: Totals | null): string {
  if (!plan.name.trim()) return 'Give the round a name.'
  if (!plan.people.length) return 'Choose who works in it.'
  if (plan.people.length < plan.overlap)
    return `Each unit needs ${plan.overlap} people, and ${plan.people.length === 1 ? 'only one is' : `only ${plan.people.length} are`} chosen.`
  if (totals && !totals.units) return 'No unit is left by these filters.'
  if (totals && plan.sample && plan.sample > totals.available) return `There are only ${counted(totals.available, 'unit')} to sample from.`
  return ''
}
