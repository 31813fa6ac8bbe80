import type { KindDefinition } from '../kind.ts'

const signs: Readonly<Record<string, string>> = { agreement: '≡', contradiction: '≠' }

/** How the inputs of a cluster relate: do they agree? */
const discourse = {
  key: 'discourse',
  unit: 'Cluster',
  noun: 'relation',
  missing: 'its relation',
  said: (_, value) => (signs[value] ? `${signs[value]} ${value}` : value),
  signs,
  fields: ['relation'],
  task: () => import('./task.ts'),
  trial: () => import('./trial.ts'),
  columns: () => import('./columns.ts'),
  inForce: () => import('./inForce.ts'),
} satisfies KindDefinition
export default discourse
