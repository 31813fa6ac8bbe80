import type { KindTask } from '../kind.ts'
import { bindings } from './keys.ts'
import Pico from './Pico.svelte'
import Reading from './Reading.svelte'
import { inWords, type Card, type Value } from './state.ts'

const task: KindTask<Card, Value> = {
  editor: Pico,
  reading: Reading,
  bindings,
  inWords,
  inShort: (card) => card.unit.unit_name,
  textOf: (card) => card.text,
}
export default task
