import { inShort, type Page } from '../../rating/protocol.ts'
import type { KindTask } from '../kind.ts'
import { bindings } from './keys.ts'
import Rate from './Rate.svelte'
import Reading from './Reading.svelte'
import { inWords, type Value } from './words.ts'

const task: KindTask<Page, Value> = { editor: Rate, reading: Reading, bindings, inWords, inShort, textOf: inShort }
export default task
