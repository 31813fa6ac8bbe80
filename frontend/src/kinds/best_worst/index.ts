import type { KindDefinition } from '../kind.ts'

/** The best and the worst of four summaries of one source. */
const bestWorst: KindDefinition = {
  key: 'best_worst',
  unit: 'Tuple',
  noun: 'choice',
  missing: 'choices',
  said: (field, value) => (field ? `${field} ${value}` : value),
  task: () => import('./task.ts'),
  tutorial: () => import('./tutorial.ts'),
}
export default bestWorst
