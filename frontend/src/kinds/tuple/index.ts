import type { KindDefinition } from '../kind.ts'

/** The PICO tuple of a cluster: what its propositions are about. */
const tuple: KindDefinition = {
  key: 'tuple',
  unit: 'Target',
  noun: 'PICO tuple',
  missing: 'its tuple',
  fields: ['tuple'],
  task: () => import('./task.ts'),
  trial: () => import('./trial.ts'),
  columns: () => import('./columns.ts'),
  inForce: () => import('./inForce.ts'),
}
export default tuple
