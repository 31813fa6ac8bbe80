import { inShort } from '../../rating/protocol.ts'
import type { KindTask } from '../kind.ts'
import Compare from './Compare.svelte'
import { bindings } from './keys.ts'
import Reading from './Reading.svelte'
import type { Card, Value } from './state.ts'
import { inWords } from './words.ts'

const task: KindTask<Card, Value> = { editor: Compare, reading: Reading, bindings, inWords, inShort, textOf: inShort }
export default task
