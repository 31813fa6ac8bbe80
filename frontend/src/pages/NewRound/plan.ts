/** Size and duration of a planned round, in sentences. */

import type { Schemas } from '../../api/client.ts'
import { count, counted, duration } from '../../components/format.ts'

type Totals = Schemas['RoundTotals']

/** "120 answers, 40 each, about 25 min" */
export function totalsSentence(t: Totals): string {
  const each = t.each ? `, ${Number.isInteger(t.each) ? count(t.each) : `about ${count(Math.round(t.each))}`} each` : ''
  return `${counted(t.answers, 'answer')}${each}${t.minutes_each ? `, about ${duration(t.minutes_each * 60)}` : ''}`
}

/** The basis of the time: "37 s per answer, the median of 500 earlier answers." */
export function paceSentence(t: Totals): string {
  const pace = `${duration(t.seconds_an_answer)} per answer`
  return t.answers_timed ? `${pace}, the median of ${counted(t.answers_timed, 'earlier answer')}.` : `No earlier answers; ${pace} assumed.`
}

/** "Opening fixes units, people per unit, guideline 2 and seed 7." */
export function freezes(guideline: number | null, seed: number, rolling = false): string {
  return `Opening fixes ${rolling ? 'the selection of units' : 'units'}, people per unit, guideline ${guideline ?? 1} and seed ${seed}.`
}

interface Block {
  percent: number | null
  people: number
}

/** "40 of 2,292 matching units × 1 person, 20 % of them × 3 people" */
export function unitsSentence(t: Totals, overlap: number, block: Block): string {
  const more = block.percent ? `, ${block.percent} % of them × ${counted(block.people, 'person', 'people')}` : ''
  return `${count(t.units)} of ${count(t.available)} matching ${t.available === 1 ? 'unit' : 'units'} × ${counted(overlap, 'person', 'people')}${more}`
}

const NONE: Record<string, string> = {
  any: 'No unit matches these filters.',
  decided: 'No matching unit has a current value to correct.',
  'fully decided': 'No matching unit can be used for practice: all its fields must be decided.',
}

/** Why a plan cannot be opened; empty if it can. `chooses`: which units the purpose takes. */
export function obstacle(plan: { name: string; people: number[]; overlap: number; sample?: number | null; rolling?: boolean }, totals: Totals | null, chooses = 'any'): string {
  if (totals && !totals.available && !plan.rolling) return NONE[chooses] ?? NONE['any']!
  if (!plan.name.trim()) return 'Enter a name.'
  if (!plan.people.length) return 'Choose people.'
  if (plan.people.length < plan.overlap)
    return `Select at least ${plan.overlap} people.`
  if (totals && plan.sample && plan.sample > totals.available) return `Only ${counted(totals.available, 'unit matches', 'units match')}.`
  return ''
}
