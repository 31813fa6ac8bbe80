import type { KindDefinition } from '../kind.ts'

/** Preference between two summaries of one source. */
const compare: KindDefinition = {
  key: 'compare',
  unit: 'Pair',
  noun: 'preference',
  missing: 'preferences',
  said: (field, value) => (field ? `${field} ${value}` : value),
  task: () => import('./task.ts'),
  tutorial: () => import('./tutorial.ts'),
}
export default compare
