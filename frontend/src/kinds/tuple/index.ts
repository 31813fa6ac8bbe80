import type { KindDefinition } from '../kind.ts'

/** The PICO tuple of a cluster. */
const tuple: KindDefinition = {
  key: 'tuple',
  unit: 'Target',
  noun: 'PICO tuple',
  missing: 'a PICO tuple',
  fields: ['tuple'],
  task: () => import('./task.ts'),
  tutorial: () => import('./tutorial.ts'),
  columns: () => import('./columns.ts'),
  currentValues: () => import('./currentValues.ts'),
}
export default tuple
