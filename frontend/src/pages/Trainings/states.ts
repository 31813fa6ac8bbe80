import type { Schemas } from '../../api/client.ts'
import type { ChipState } from '../../components/StateChip.svelte'

type State = Schemas['TrainingRow']['state']
/** Chip and word of each state of a training. */
export const STATES: Record<State, readonly [ChipState, string]> = {
  queued: ['draft', 'Queued'], running: ['open', 'Running'], done: ['done', 'Done'], failed: ['failed', 'Failed'], cancelled: ['cancelled', 'Cancelled'],
}
export const isOpen = (state: State) => state === 'queued' || state === 'running'
