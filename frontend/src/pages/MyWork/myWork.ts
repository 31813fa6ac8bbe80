/** Sentences and order of the rounds on *My work*. */

import type { Schemas } from '../../api/client.ts'
import { count, duration } from '../../components/format.ts'

type Row = Schemas['WorkRow']
type Prerequisite = Schemas['Prerequisite']

/** Whether the person can work in the round; questions are answered in the round itself, practice is another round. */
export function canGoOn(row: Pick<Row, 'prerequisite'>): boolean {
  return !row.prerequisite || (row.prerequisite.what === 'questions' && row.prerequisite.state === 'to do')
}

/** The round that "Continue" opens: one started today, else one started, else the newest. */
export function nextOf(rows: readonly Row[]): Row | undefined {
  const open = rows.filter((r) => r.status === 'open' && r.left > 0 && canGoOn(r))
  return open.find((r) => r.today > 0) ?? open.find((r) => r.answered > 0) ?? open[0]
}

/** The prerequisite of a round in words, with a link to its practice. */
export function describePrerequisite(prerequisite: Prerequisite): { what: string; link: string } {
  if (prerequisite.what === 'questions')
    return { what: prerequisite.state === 'to do' ? 'Starts with questions about the guideline.' : 'Not open to you: you have not answered all questions correctly. Ask the lead.', link: '' }
  if (prerequisite.state === 'to do') return { what: 'Not open to you yet: first pass', link: `/work/${prerequisite.round}` }
  return { what: `Not open to you: you have not passed the practice ${prerequisite.name}. Ask the lead.`, link: '' }
}

/** Units and time of today; empty if there are none. */
export function soFar(today: number, seconds: number, before = ', '): string {
  return today || seconds ? `${before}${count(today)} done today, ${duration(seconds)} spent` : ''
}

/** Result of the person's own practice. */
export const PRACTICE_RESULTS: Record<NonNullable<Row['practice']>, string> = {
  'to do': '',
  passed: 'Passed.',
  'may begin again': 'Not passed. A second attempt is possible.',
  'not passed': 'Not passed. Ask the lead.',
}
