import { inShort } from '../../rating/protocol.ts'
import type { KindTask } from '../kind.ts'
import Reading from '../rate/Reading.svelte'
import BestWorst from './BestWorst.svelte'
import { bindings } from './keys.ts'
import { inWords, type Card, type Value } from './state.ts'

const task: KindTask<Card, Value> = { editor: BestWorst, reading: Reading, bindings, inWords, inShort, textOf: inShort }
export default task
