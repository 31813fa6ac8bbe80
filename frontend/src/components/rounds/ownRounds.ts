/** Sentences and order of a person's own rounds. */

import type { Schemas } from '../../api/client.ts'
import type { TodoItem } from '../TodoList.svelte'
import { count, counted, duration, listed } from '../format.ts'

type Row = Schemas['WorkRow']
type Prerequisite = Schemas['Prerequisite']

/** Whether the person can work in the round; questions are answered in the round itself, practice is another round. */
export function canGoOn(row: Pick<Row, 'prerequisite'>): boolean {
  return !row.prerequisite || (row.prerequisite.what === 'questions' && row.prerequisite.state === 'to do')
}

/** The open rounds that open after a practice. */
const openedBy = (practice: Row, rows: readonly Row[]): Row[] =>
  rows.filter((r) => r.status === 'open' && r.prerequisite?.what === 'practice' && r.prerequisite.state === 'to do' && r.prerequisite.round === practice.id)

/** Open rounds in the order of work: practice that opens other rounds, begun today, begun, new, locked, without units. */
export function inOrder(rows: readonly Row[]): Row[] {
  const rank = (r: Row) => {
    if (!canGoOn(r)) return 5
    if (!r.left) return r.practice === 'may begin again' ? 4 : 6
    return openedBy(r, rows).length ? 0 : r.today ? 1 : r.answered ? 2 : 3
  }
  return rows.filter((r) => r.status === 'open').sort((a, b) => rank(a) - rank(b))
}

/** The round that "Continue" opens. */
export function nextOf(rows: readonly Row[]): Row | undefined {
  return inOrder(rows).find((r) => r.left > 0 && canGoOn(r))
}

/** "Continue", "Begin practice". */
export const goOn = (row: Row): string => `${row.answered ? 'Continue' : 'Begin'}${row.practice ? ' practice' : ''}`

/** "Pilot 3 opens to you after it."; empty if no round waits for this one. */
export function opensAfter(row: Row, rows: readonly Row[]): string {
  const later = openedBy(row, rows)
  return later.length ? `Finish it first: ${listed(later.map((r) => r.name))} ${later.length === 1 ? 'opens' : 'open'} to you after it.` : ''
}

/** "of 40 answered, about 8 min left" after the number of answers. */
export function progressOf(row: Row): string {
  const each = row.answered && row.active_seconds ? row.active_seconds / row.answered : 0
  return `of ${count(row.answered + row.left)} answered${each && row.left ? `, about ${duration(each * row.left)} left` : ''}`
}

/** Why a round is not open to the person yet. */
export function describePrerequisite({ what, state, name }: Prerequisite): string {
  if (what === 'questions') return state === 'to do' ? 'Starts with questions about the guideline' : 'You have not answered all questions correctly: ask the lead'
  return state === 'to do' ? `Opens after “${name}”` : `You have not passed “${name}”: ask the lead`
}

/** Units and time of today; empty if there are none. */
export function soFar(today: number, seconds: number): string {
  return [today ? `${count(today)} done today` : '', seconds ? `${duration(seconds)} spent` : ''].filter(Boolean).join(', ')
}

/** Result of the person's own practice. */
export const PRACTICE_RESULTS: Record<NonNullable<Row['practice']>, string> = {
  'to do': '',
  passed: 'Passed',
  'may begin again': 'Not passed, a second attempt is possible',
  'not passed': 'Not passed: ask the lead',
}

export type OwnRound = TodoItem & { row: Row }

/** A round as a row of a list; `of` says what and where it is. */
export function asTodo(row: Row, of: string): OwnRound {
  const parts = [
    row.prerequisite ? describePrerequisite(row.prerequisite) : row.practice ? PRACTICE_RESULTS[row.practice] : '',
    row.left && canGoOn(row) && row.answered ? `${count(row.answered)} ${progressOf(row)}` : '',
    row.left || row.practice ? '' : row.answered ? 'Nothing left for now' : 'No units for you yet',
  ]
  return {
    key: `round-${row.id}`, n: row.left, title: row.name, href: `/work/${row.id}`,
    reason: [of, ...parts].filter(Boolean).join(' · '),
    button: row.left ? goOn(row) : row.practice === 'may begin again' ? 'Second attempt' : 'Open',
    ...(canGoOn(row) ? {} : { locked: { state: 'locked', words: 'Locked' } }),
    row,
  }
}

/** "53 units left in 2 rounds · 30 units in 1 round open later · 3 done today, 20 s spent" */
export function summaryOf(rows: readonly Row[]): string {
  const sum = (some: readonly Row[], key: 'today' | 'left' | 'active_seconds') => some.reduce((n, r) => n + r[key], 0)
  const open = rows.filter((r) => r.status === 'open' && r.left > 0)
  const ready = open.filter(canGoOn)
  const later = open.filter((r) => !canGoOn(r))
  const units = (some: readonly Row[]) => `${counted(sum(some, 'left'), 'unit')}`
  return [
    ready.length ? `${units(ready)} left in ${counted(ready.length, 'round')}` : '',
    later.length ? `${units(later)} in ${counted(later.length, 'locked round')}` : '',
    soFar(sum(rows, 'today'), sum(rows, 'active_seconds')),
  ].filter(Boolean).join(' · ')
}
