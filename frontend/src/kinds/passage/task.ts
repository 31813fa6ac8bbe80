import type { Component } from 'svelte'
import type { Card as AnyCard, KindTask } from '../kind.ts'
import { bindings } from './keys.ts'
import Passage from './Passage.svelte'
import Reading from './Reading.svelte'
import Source from './Source.svelte'
import type { Card, Value } from './state.ts'

const task: KindTask<Card, Value> = {
  editor: Passage,
  reading: Reading,
  about: Source as Component<{ card: AnyCard }>,
  bindings,
  inWords: (value) => value?.passage_rating ?? '',
  inShort: (card) => card.text.slice(0, 120),
  textOf: (card) => card.text,
}
export default task
