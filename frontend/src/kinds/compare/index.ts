import type { KindDefinition } from '../kind.ts'

/** Two summaries of one source: which is better. */
const compare: KindDefinition = {
  key: 'compare',
  unit: 'Pair',
  noun: 'preference',
  missing: 'its preferences',
  said: (field, value) => (field ? `${field} ${value}` : value),
  task: () => import('./task.ts'),
  trial: () => import('./trial.ts'),
}
export default compare
