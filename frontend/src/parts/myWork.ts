/** What *My work* says of rounds in which something comes before the first unit. */

import type { Schemas } from '../api/client.ts'
import { count, duration } from './format.ts'

type Row = Schemas['WorkRow']
type First = Schemas['First']

/** Whether the person can go on in it: questions are asked in the round itself, a practice is another round. */
export function canGoOn(row: Pick<Row, 'first'>): boolean {
  return !row.first || (row.first.what === 'questions' && row.first.state === 'to do')
}

/** The round that "Continue" goes to: one begun today, else one begun, else the newest; none that is not open yet. */
export function nextOf(rows: readonly Row[]): Row | undefined {
  const open = rows.filter((r) => r.status === 'open' && r.left > 0 && canGoOn(r))
  return open.find((r) => r.today > 0) ?? open.find((r) => r.answered > 0) ?? open[0]
}

/** What comes first, and where the practice is that is to be passed. */
export function standing(first: First): { what: string; link: string } {
  if (first.what === 'questions')
    return { what: first.state === 'to do' ? 'Begins with questions about the guideline.' : 'Not open to you yet: ask the lead. Not all questions were answered right.', link: '' }
  if (first.state === 'to do') return { what: 'Not open to you yet: first pass', link: `/work/${first.round}` }
  return { what: `Not open to you yet: it requires the practice ${first.name}, which you have not passed. Ask the lead.`, link: '' }
}

/** What was done by now; nothing where nothing was. */
export function soFar(today: number, seconds: number, before = ', '): string {
  return today || seconds ? `${before}${count(today)} done today, ${duration(seconds)} spent` : ''
}

/** How one's own practice came out. */
export const FARES: Record<NonNullable<Row['practice']>, string> = {
  'to do': '',
  passed: 'Passed.',
  'may begin again': 'Not passed. You may do all units once more.',
  'not passed': 'Not passed. Ask the lead how to go on.',
}
