import type { KindTask } from '../kind.ts'
import Effect from './Effect.svelte'
import { bindings } from './keys.ts'
import Reading from './Reading.svelte'
import { inWords, type Card, type Value } from './state.ts'

const task: KindTask<Card, Value> = {
  editor: Effect,
  reading: Reading,
  bindings,
  inWords,
  inShort: (card) => `${card.intervention} → ${card.outcome}`,
  textOf: (card) => `${card.intervention} → ${card.outcome}`,
}
export default task
