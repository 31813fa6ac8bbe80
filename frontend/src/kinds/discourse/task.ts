import { inShort } from '../../pico/slots.ts'
import type { KindTask } from '../kind.ts'
import Discourse from './Discourse.svelte'
import { bindings } from './keys.ts'
import Reading from './Reading.svelte'
import type { Card, Value } from './state.ts'

const task: KindTask<Card, Value> = {
  editor: Discourse,
  reading: Reading,
  bindings,
  inWords: (value) => value?.relation ?? '',
  inShort: (card) => inShort(card.pico),
  textOf: (card) => card.propositions[0]?.text ?? '',
}
export default task
