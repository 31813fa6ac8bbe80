import type { Schemas } from '../../api/client.ts'
import type { ChipState } from '../../components/StateChip.svelte'
import { count } from '../../components/format.ts'

export type JudgeRun = Schemas['JudgeRun']
type State = JudgeRun['state']
/** Chip and word of each state of a run. */
export const STATES: Record<State, readonly [ChipState, string]> = {
  waiting: ['draft', 'Waiting'], running: ['open', 'Running'], stopped: ['quiet', 'Stopped'], budget: ['quiet', 'Limit reached'], failed: ['failed', 'Failed'], done: ['done', 'Done'],
}
export const isActive = (state: State) => state === 'waiting' || state === 'running'

/** "EUR 0.42", "3,120 tokens" without prices. */
export function costOf(run: Pick<JudgeRun, 'cost' | 'currency' | 'tokens_in' | 'tokens_out'>): string {
  return run.cost === null ? `${count(run.tokens_in + run.tokens_out)} tokens` : `${run.currency} ${run.cost.toFixed(run.cost < 1 ? 4 : 2)}`
}
