/** Size and duration of a planned round, in sentences. */

import type { Schemas } from '../../api/client.ts'
import { count, counted, duration, listed } from '../../components/format.ts'

type Totals = Schemas['RoundTotals']

/** "120 answers, 40 each, about 25 min" */
export function totalsSentence(t: Pick<Totals, 'answers' | 'each' | 'minutes_each'>): string {
  const each = t.each ? `, ${Number.isInteger(t.each) ? count(t.each) : `about ${count(Math.round(t.each))}`} each` : ''
  return `${counted(t.answers, 'answer')}${each}${t.minutes_each ? `, about ${duration(t.minutes_each * 60)}` : ''}`
}

/** The basis of the time: "37 s, median of 500 answers" */
export function paceInWords(t: Totals): string {
  const pace = duration(t.seconds_an_answer)
  return t.answers_timed ? `${pace}, median of ${counted(t.answers_timed, 'answer')}` : `${pace}, assumed`
}

/** "Anna, Ben and Eva"; a number if they are many. */
export function peopleInWords(names: readonly string[]): string {
  return names.length > 6 ? counted(names.length, 'person', 'people') : listed(names) || 'none'
}

/** "Opening fixes units, people per unit, guideline 2 and seed 7." */
export function freezes(guideline: number | null, seed: number, rolling = false): string {
  return `Opening fixes ${rolling ? 'the selection of units' : 'units'}, people per unit, guideline ${guideline ?? 1} and seed ${seed}.`
}

interface Block {
  percent: number | null
  people: number
}

/** "40 of 2,292 matching × 1 person, 20% of them × 3 people" */
export function unitsInWords(t: Totals, overlap: number, block: Block): string {
  const more = block.percent ? `, ${block.percent}% of them × ${counted(block.people, 'person', 'people')}` : ''
  return `${t.units === t.available ? count(t.units) : `${count(t.units)} of ${count(t.available)} matching`} × ${counted(overlap, 'person', 'people')}${more}`
}

const NONE: Record<string, string> = {
  any: 'No unit matches these filters.',
  decided: 'No matching unit has a current value to correct.',
  targets: 'A study needs clusters with target propositions.',
  'fully decided': 'No matching unit can be used for practice: all its fields must be decided.',
}

/** Why a plan cannot be opened; empty if it can. `chooses`: which units the purpose takes. */
export function obstacle(plan: { name: string; people: number[]; overlap: number; sample?: number | null; rolling?: boolean }, totals: Pick<Totals, 'available'> | null, chooses = 'any'): string {
  if (totals && !totals.available && !plan.rolling) return NONE[chooses] ?? NONE['any']!
  if (!plan.name.trim()) return 'Enter a name.'
  if (!plan.people.length) return 'Choose people.'
  if (plan.people.length < plan.overlap)
    return `Select at least ${plan.overlap} people, or lower “People per unit”.`
  if (totals && plan.sample && plan.sample > totals.available) return `Only ${counted(totals.available, 'unit matches', 'units match')}.`
  return ''
}

/** Size of a reliability study: `seconds` has the time per answer of both rounds. */
export function studyTotals(labels: number, matches: number, overlap: number, people: number, seconds: Readonly<Record<string, number>>): Pick<Totals, 'answers' | 'each' | 'minutes_each'> {
  const time = labels * (seconds['label'] ?? 0) + matches * (seconds['match'] ?? 0)
  return { answers: (labels + matches) * overlap, each: people ? ((labels + matches) * overlap) / people : 0, minutes_each: people ? (time * overlap) / people / 60 : 0 }
}
