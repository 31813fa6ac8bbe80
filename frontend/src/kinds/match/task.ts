import type { KindTask } from '../kind.ts'
import { bindings } from './keys.ts'
import Match from './Match.svelte'
import Reading from './Reading.svelte'
import { placeOf, type Card, type Value } from './state.ts'

const task: KindTask<Card, Value> = {
  editor: Match,
  reading: Reading,
  bindings,
  inWords: (value, card) => (value && card ? `sentence ${placeOf(card, value)}` : ''),
  inShort: (card) => card.target,
  textOf: (card) => card.target,
}
export default task
