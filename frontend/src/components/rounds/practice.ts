/** Practice, in sentences. */

import type { Schemas } from '../../api/client.ts'
import { counted, count } from '../format.ts'

type Attempt = Schemas['Attempt']

/** "Attempt 1: 8 of 10 units right in their last try (80%), pass mark 80%: passed." */
export function attemptSentence(a: Attempt, passMark: number): string {
  if (!a.is_done) return `Attempt ${a.number}: ${count(a.done)} of ${counted(a.units, 'unit')} done, ${count(a.right)} right so far.`
  return `Attempt ${a.number}: ${count(a.right)} of ${counted(a.units, 'unit')} right in their last try (${share(a)}), pass mark ${passMark}%: ${a.passed ? 'passed' : 'not passed'}.`
}

/** Share of right units in whole percent, rounded down so that a failed attempt never shows the pass mark. */
export function share(a: Pick<Attempt, 'right' | 'units'>): string {
  return a.units ? `${Math.floor((100 * a.right) / a.units)}%` : '–'
}
