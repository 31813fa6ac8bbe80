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

/** What opening fixes: "Units, people per unit, guideline 2 and seed 7 are then fixed." */
export function freezes(guideline: number | null, seed: number, rolling = false): string {
  return `${rolling ? 'How units are chosen' : 'Units'}, people per unit, guideline ${guideline ?? 1} and seed ${seed} are then fixed.`
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
  decided: 'No matching unit has a value to review yet.',
  settled: 'No matching unit has gold yet: every field decided by a curator, or brought by a file of gold.',
}

/** What keeps a plan from being opened, as a sentence; empty where nothing does. `chooses`: which units the purpose takes. */
export function obstacle(plan: { name: string; people: number[]; overlap: number; sample?: number | null; rolling?: boolean }, totals: Totals | null, chooses = 'any'): string {
  if (totals && !totals.available && !plan.rolling) return NONE[chooses] ?? NONE['any']!
  if (!plan.name.trim()) return 'Give the round a name.'
  if (!plan.people.length) return 'Choose who works in it.'
  if (plan.people.length < plan.overlap)
    return `Each unit needs ${plan.overlap} people, and ${plan.people.length === 1 ? 'only one is' : `only ${plan.people.length} are`} chosen.`
  if (totals && plan.sample && plan.sample > totals.available) return `There are only ${counted(totals.available, 'unit')} to sample from.`
  return ''
}
