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
  inShort: (card) => card.key,
  textOf: (card) => card.text,
  ofTarget: ({ unit, key, text }, value, { title }) => ({
    assignment: 0, kind: 'pico', revision: 1, shown: 1, position: 0, unit: { id: unit, key }, answered_at: null, outcome: null,
    comment: '', references: [], flag: false, text, key, title, in_force: null, value,
  }),
}
export default task
