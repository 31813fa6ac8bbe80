import type { KindDefinition } from '../kind.ts'

/** The summaries of one source, rated by the criteria of a protocol. */
const rate: KindDefinition = {
  key: 'rate',
  unit: 'Source',
  noun: 'rating',
  missing: 'its ratings',
  said: (field, value) => (field ? `${field} ${value}` : value),
  task: () => import('./task.ts'),
  trial: () => import('./trial.ts'),
}
export default rate
