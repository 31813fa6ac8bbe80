import { inShort } from '../../pico/elements.ts'
import type { KindTask } from '../kind.ts'
import { bindings } from './keys.ts'
import Label from './Label.svelte'
import Reading from './Reading.svelte'
import type { Card, Value } from './state.ts'
import { inWords } from './values.ts'

const task: KindTask<Card, Value> = {
  editor: Label, reading: Reading, bindings, inWords, inShort: (card) => inShort(card.pico), textOf: (card) => card.text,
}
export default task
