import type { KindTask } from '../kind.ts'
import AssignEvidence from './AssignEvidence.svelte'
import { bindings } from './keys.ts'
import Reading from './Reading.svelte'
import { inWords, type Card, type Value } from './state.ts'

const task: KindTask<Card, Value> = {
  editor: AssignEvidence,
  reading: Reading,
  bindings,
  inWords,
  inShort: (card) => card.text,
  textOf: (card) => card.text,
}
export default task
