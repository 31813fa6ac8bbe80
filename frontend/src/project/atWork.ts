/** What is said of people at work in a round, and of the work that is left. */

import type { Schemas } from '../api/client.ts'
import { counted } from '../parts/format.ts'

type AtWork = Pick<Schemas['AtWork'], 'answered' | 'skipped' | 'left' | 'seconds_an_answer' | 'last_answer_at'>
/** Who has not been seen for so many days, with work left, is told of. */
export const QUIET = 3
const DAY = 86_400_000

/** "last answer 3 days ago", where it is that long ago and something is left; else nothing. */
export function quiet(person: AtWork, now = Date.now()): string {
  if (!person.last_answer_at || person.left === 0) return ''
  const days = Math.floor((now - Date.parse(person.last_answer_at)) / DAY)
  return days >= QUIET ? `last answer ${counted(days, 'day')} ago` : ''
}

/** Seconds that a unit has taken them so far, and over how many units, skipped ones too; null where nobody was timed. */
export function pace(people: readonly Pick<AtWork, 'answered' | 'skipped' | 'seconds_an_answer'>[]): { each: number; n: number } | null {
  const timed = people.filter((p) => p.seconds_an_answer !== null)
  const n = timed.reduce((sum, p) => sum + p.answered + p.skipped, 0)
  const spent = timed.reduce((sum, p) => sum + p.seconds_an_answer! * (p.answered + p.skipped), 0)
  return n ? { each: spent / n, n } : null
}

/** Seconds of work left at the pace so far; 0 where nothing is left or nobody's time was measured. */
export const left = (round: { slots: number; answered: number; at_work: readonly AtWork[] }): number =>
  (pace(round.at_work)?.each ?? 0) * Math.max(0, round.slots - round.answered)

/** Days one after the other, those between on which nothing was said too. */
export function everyDay(days: readonly { day: string; answers: number }[]): { day: string; answers: number }[] {
  const said = new Map(days.map((d) => [d.day, d.answers]))
  const first = Date.parse(days[0]!.day), last = Date.parse(days.at(-1)!.day)
  return Array.from({ length: Math.round((last - first) / DAY) + 1 }, (_, n) => {
    const day = new Date(first + n * DAY).toISOString().slice(0, 10)
    return { day, answers: said.get(day) ?? 0 }
  })
}
