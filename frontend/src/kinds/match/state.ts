/** Which of four is most relevant: the places, their keys, and the value as it is sent. */

import type { Schemas } from '../../api/client.ts'
import type { Option } from '../choice.ts'

export type Card = Schemas['MatchCard']
export type Value = Schemas['MatchValue']
export type Place = '1' | '2' | '3' | '4'

export const PLACES: readonly Option<Place>[] = (['1', '2', '3', '4'] as const).map((n) => ({
  value: n, key: n, says: 'this sentence is most relevant',
}))

export const placeOf = (value: Value | null): Place | null => (value ? (String(value.most_relevant) as Place) : null)
export const toValue = (place: Place): Value => ({ most_relevant: Number(place) })
