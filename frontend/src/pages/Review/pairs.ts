/** The pairs of a review as a table, and the marks of its studies. */

import type { Schemas } from '../../api/client.ts'
import { EFFECT_DIRECTIONS } from '../../kinds/effectDirections.ts'

type Review = Schemas['ReviewReadings']
export type Pair = Schemas['PairEffect']

/** A mark of a study: its direction, whether it agrees with the review, and whether people decided it. */
export interface Mark {
  direction: number
  /** Null if the review or the study reports no direction. */
  agrees: boolean | null
  decided: boolean
}

export const NOT_REPORTED = EFFECT_DIRECTIONS.findIndex((d) => d.value === 'not reported')

export const isIncluded = (study: { role: Schemas['StudyRoleEnum'] }): boolean => study.role === 'included'

/** Distinct interventions and outcomes in order, and the position of each pair. */
export function table(pairs: readonly Pair[]) {
  const positions = new Map(pairs.map((pair, n) => [`${pair.intervention}\n${pair.outcome}`, n]))
  return {
    interventions: [...new Set(pairs.map((p) => p.intervention))],
    outcomes: [...new Set(pairs.map((p) => p.outcome))],
    at: (intervention: string, outcome: string) => positions.get(`${intervention}\n${outcome}`) ?? null,
  }
}

const reported = (direction: number | null): direction is number => direction !== null && direction !== NOT_REPORTED

export function agrees(pair: Pair, direction: number | null): boolean | null {
  const ofReview = pair.effect ? EFFECT_DIRECTIONS.findIndex((d) => d.value === pair.effect!.direction) : null
  return reported(ofReview) && reported(direction) ? ofReview === direction : null
}

/** The marks of the included studies for a pair, oldest first. Studies without a value have none. */
export function marks(review: Pick<Review, 'pairs' | 'studies'>, position: number): Mark[] {
  return review.studies.filter(isIncluded).flatMap((study) => {
    const direction = study.directions[position] ?? null
    return direction === null ? [] : [{ direction, agrees: agrees(review.pairs[position]!, direction), decided: study.decided.includes(position) }]
  })
}

/** "17 of 20 agree", "3 not reported". */
export function inWords(of: readonly Mark[]): string {
  const compared = of.filter((m) => m.agrees !== null)
  const left = of.filter((m) => m.direction === NOT_REPORTED).length
  return [compared.length ? `${compared.filter((m) => m.agrees).length} of ${compared.length} agree` : 'nothing to compare', left ? `${left} not reported` : ''].filter(Boolean).join(', ')
}

/** Years from the first to the last, and how many are unknown: "1993–2006, 2 of unknown year". */
export function years(studies: readonly { year: number | null }[]): string {
  const known = studies.flatMap((s) => (s.year === null ? [] : [s.year]))
  const unknown = studies.length - known.length
  const range = known.length ? [...new Set([Math.min(...known), Math.max(...known)])].join('–') : ''
  return [range, unknown === 0 ? '' : known.length ? `${unknown} of unknown year` : 'years unknown'].filter(Boolean).join(', ')
}
