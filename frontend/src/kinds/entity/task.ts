import type { KindTask } from '../kind.ts'
import Entity from './Entity.svelte'
import { bindings } from './keys.ts'
import Reading from './Reading.svelte'
import { inWords, type Card, type Value } from './state.ts'

const task: KindTask<Card, Value> = {
  editor: Entity,
  reading: Reading,
  bindings,
  inWords,
  inShort: (card) => card.title || card.pmid,
  textOf: (card) => card.text,
}
export default task
