import type { KindTask } from '../kind.ts'
import { bindings } from './keys.ts'
import Reading from './Reading.svelte'
import { inWords, type Card, type Value } from './state.ts'
import Studies from './Studies.svelte'

const task: KindTask<Card, Value> = {
  editor: Studies,
  reading: Reading,
  bindings,
  inWords,
  inShort: (card) => card.title || `Review ${card.pmid}`,
  textOf: (card) => card.title || `Review ${card.pmid}`,
}
export default task
