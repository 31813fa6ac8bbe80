import type { KindTask } from '../kind.ts'
import Reading from './Reading.svelte'
import { inWords, type Card, type Value } from './state.ts'
import Tuple from './Tuple.svelte'

const task: KindTask<Card, Value> = {
  editor: Tuple,
  reading: Reading,
  // Letters go into the fields; Enter, in a field too, saves.
  bindings: [],
  inWords,
  inShort: (card) => card.cluster,
  textOf: (card) => card.text,
}
export default task
