import type { KindTask } from '../kind.ts'
import Counterfactual from './Counterfactual.svelte'
import { inWords } from './inWords.ts'
import { bindings } from './keys.ts'
import Reading from './Reading.svelte'
import type { Card, Value } from './words.ts'

const task: KindTask<Card, Value> = {
  editor: Counterfactual,
  reading: Reading,
  bindings,
  inWords,
  inShort: (card) => card.unit.unit_name,
  textOf: (card) => card.text,
}
export default task
