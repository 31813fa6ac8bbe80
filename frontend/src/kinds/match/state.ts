/** The most relevant of four candidates: positions on the page, keys, and the API value. The value names a
 *  candidate by number, because the order on the page differs between people. */

import type { Schemas } from '../../api/client.ts'
import type { Option } from '../choice.ts'

export type Card = Schemas['MatchCard']
export type Value = Schemas['MatchValue']
export type Place = '1' | '2' | '3' | '4'

export const PLACES: readonly Option<Place>[] = (['1', '2', '3', '4'] as const).map((n) => ({
  value: n, key: n, says: 'this sentence is most relevant',
}))

export function placeOf(card: Pick<Card, 'candidates'>, value: Value | null): Place | null {
  const at = card.candidates.findIndex((c) => c.number === value?.most_relevant)
  return PLACES[at]?.value ?? null
}
export const toValue = (card: Pick<Card, 'candidates'>, place: Place): Value => ({ most_relevant: card.candidates[Number(place) - 1]!.number })
