import type { KindTask } from '../kind.ts'
import Evidence from './Evidence.svelte'
import { bindings } from './keys.ts'
import Reading from './Reading.svelte'
import { inWords, type Card, type Value } from './state.ts'

const task: KindTask<Card, Value> = {
  editor: Evidence,
  reading: Reading,
  bindings,
  inWords,
  inShort: (card) => `${card.target} (${card.pmid})`,
  textOf: (card) => card.target,
}
export default task
