import { inShort } from '../../rating/protocol.ts'
import type { KindTask } from '../kind.ts'
import { bindings } from './keys.ts'
import Rate from './Rate.svelte'
import Reading from './Reading.svelte'
import type { Card, Value } from './stored.ts'
import { inWords } from './words.ts'

const task: KindTask<Card, Value> = { editor: Rate, reading: Reading, bindings, inWords, inShort, textOf: inShort }
export default task
