import type { KindTask } from '../kind.ts'
import Reading from './Reading.svelte'
import { inWords, type Card, type Value } from './state.ts'
import Tuple from './Tuple.svelte'

const task: KindTask<Card, Value> = {
  editor: Tuple,
  reading: Reading,
  // No keys: letters are typed into fields, and the form handles Enter.
  bindings: [],
  inWords,
  inShort: (card) => card.unit.unit_name,
  textOf: (card) => card.text,
}
export default task
