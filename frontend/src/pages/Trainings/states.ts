import type { Schemas } from '../../api/client.ts'
import type { ChipState } from '../../components/StateChip.svelte'

type State = Schemas['TrainingRow']['state']
/** Chip and word of each state of a training. */
export const STATES: Record<State, readonly [ChipState, string]> = {
  queued: ['draft', 'Queued'], running: ['open', 'Running'], done: ['done', 'Done'], failed: ['failed', 'Failed'], cancelled: ['cancelled', 'Cancelled'],
}
export const isOpen = (state: State) => state === 'queued' || state === 'running'
/** Names of metrics of the development part, as in tables. */
export const METRICS: Record<string, string> = { loss: 'Loss', rouge1: 'ROUGE-1', rouge2: 'ROUGE-2', rougeL: 'ROUGE-L', f1: 'F1' }
