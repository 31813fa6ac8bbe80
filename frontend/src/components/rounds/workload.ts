/** Pace and remaining work of the people in a round. */

import type { Schemas } from '../../api/client.ts'

type AtWork = Pick<Schemas['AtWork'], 'answered' | 'skipped' | 'seconds_an_answer'>
const DAY = 86_400_000

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
