import type { KindDefinition } from '../kind.ts'

/** Ratings of the summaries of one source by the criteria of a protocol. */
const rate: KindDefinition = {
  key: 'rate',
  unit: 'Source',
  noun: 'rating',
  missing: 'ratings',
  said: (field, value) => (field ? `${field} ${value}` : value),
  task: () => import('./task.ts'),
  tutorial: () => import('./tutorial.ts'),
}
export default rate
