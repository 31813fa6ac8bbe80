import type { KindTask } from '../kind.ts'
import { bindings } from './keys.ts'
import Reading from './Reading.svelte'
import Sentences from './Sentences.svelte'
import { inWords, type Card, type Value } from './state.ts'

const task: KindTask<Card, Value> = {
  editor: Sentences,
  reading: Reading,
  bindings,
  inWords,
  inShort: (card) => card.title || `Review ${card.pmid}`,
  textOf: (card) => card.sentences.map((one) => one.text).join(' '),
}
export default task
