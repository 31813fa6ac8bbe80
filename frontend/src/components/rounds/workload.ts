/** Pace and remaining work of the people in a round. */

import type { Schemas } from '../../api/client.ts'
import { counted } from '../format.ts'

type AtWork = Pick<Schemas['AtWork'], 'answered' | 'skipped' | 'left' | 'seconds_an_answer' | 'last_answer_at'>
/** Days without an answer after which a person with open work is listed. */
export const QUIET = 3
const DAY = 86_400_000

/** Whole days since the last answer of a person with open work; 0 for other people. */
export function quietDays(person: AtWork, now = Date.now()): number {
  if (!person.last_answer_at || person.left === 0) return 0
  return Math.floor((now - Date.parse(person.last_answer_at)) / DAY)
}

/** "last answer 3 days ago" if the person has open work and was inactive that long; otherwise empty. */
export function quiet(person: AtWork, now = Date.now()): string {
  const days = quietDays(person, now)
  return days >= QUIET ? `last answer ${counted(days, 'day')} ago` : ''
}

/** Mean seconds per unit, and the number of units, skipped ones included; null if nobody was timed. */
export function pace(people: readonly Pick<AtWork, 'answered' | 'skipped' | 'seconds_an_answer'>[]): { each: number; n: number } | null {
  const timed = people.filter((p) => p.seconds_an_answer !== null)
  const n = timed.reduce((sum, p) => sum + p.answered + p.skipped, 0)
  const seconds = timed.reduce((sum, p) => sum + p.seconds_an_answer! * (p.answered + p.skipped), 0)
  return n ? { each: seconds / n, n } : null
}

/** Seconds of work left at the current pace; 0 if nothing is left or nobody was timed. */
export const answersLeft = (round: { assignments: number; answered: number; at_work: readonly AtWork[] }): number =>
  (pace(round.at_work)?.each ?? 0) * Math.max(0, round.assignments - round.answered)

/** Consecutive days, days without an answer included. */
export function everyDay(days: readonly { day: string; answers: number }[]): { day: string; answers: number }[] {
  const answersByDay = new Map(days.map((d) => [d.day, d.answers]))
  const first = Date.parse(days[0]!.day), last = Date.parse(days.at(-1)!.day)
  return Array.from({ length: Math.round((last - first) / DAY) + 1 }, (_, n) => {
    const day = new Date(first + n * DAY).toISOString().slice(0, 10)
    return { day, answers: answersByDay.get(day) ?? 0 }
  })
}
