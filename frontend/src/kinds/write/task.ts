import type { KindTask } from '../kind.ts'
import { bindings } from './keys.ts'
import Reading from './Reading.svelte'
import { inWords, type Value } from './state.ts'
import { squeezed, type Card } from './structure.ts'
import Write from './Write.svelte'

const inShort = (card: Card) => squeezed(card.question).slice(0, 120)
const task: KindTask<Card, Value> = { editor: Write, reading: Reading, bindings, inWords, inShort, textOf: (card) => card.question }
export default task
