import type { Binding } from 'concord/work/keymap.ts'
import type { KindTask } from 'concord/kinds/kind.ts'
import Reading from './Reading.svelte'
import TwoTexts from './TwoTexts.svelte'
import { POINTS, type Card, type Value } from './state.ts'

const bindings: readonly Binding[] = POINTS.map((n) => ({
  keys: [String(n)], command: String(n), says: `${n} of 5 for the text that waits`, shown: String(n), settles: true,
}))

const task: KindTask<Card, Value> = {
  editor: TwoTexts,
  reading: Reading,
  bindings,
  inWords: (value) => (value ? `${value.target} and ${value.input} of 5` : ''),
  inShort: (card) => card.texts[0]?.text ?? '',
  textOf: (card) => card.texts.find((t) => t.key === 'target')?.text ?? '',
}
export default task
