import type { Component } from 'svelte'
import { inShort } from '../../pico/elements.ts'
import type { Card as AnyCard, KindTask } from '../kind.ts'
import Discourse from './Discourse.svelte'
import Inputs from './Inputs.svelte'
import { bindings } from './keys.ts'
import Reading from './Reading.svelte'
import type { Card, Value } from './state.ts'

const task: KindTask<Card, Value> = {
  editor: Discourse,
  reading: Reading,
  about: Inputs as Component<{ card: AnyCard }>,
  bindings,
  inWords: (value) => value?.relation ?? '',
  inShort: (card) => inShort(card.pico),
  textOf: (card) => card.propositions[0]?.text ?? '',
}
export default task
