import type { Component } from 'svelte'
import type { Card as AnyCard, KindTask } from '../kind.ts'
import { bindings } from './keys.ts'
import Reading from './Reading.svelte'
import Record from './Record.svelte'
import Screen from './Screen.svelte'
import type { Card, Value } from './state.ts'
import { inWords } from './words.ts'

const task: KindTask<Card, Value> = {
  editor: Screen,
  reading: Reading,
  about: Record as Component<{ card: AnyCard }>,
  bindings,
  inWords: (value) => (value ? inWords(value.screening) : ''),
  inShort: (card) => card.title || `Review ${card.pmid}`,
  textOf: (card) => card.abstract || card.title,
}
export default task
