import type { KindDefinition } from '../kind.ts'

const signs: Readonly<Record<string, string>> = { agreement: '≡', contradiction: '≠' }

/** Relation of a cluster's inputs: agreement or contradiction. */
const discourse = {
  key: 'discourse',
  unit: 'Cluster',
  noun: 'relation',
  missing: 'a relation',
  said: (_, value) => (signs[value] ? `${signs[value]} ${value}` : value),
  signs,
  fields: ['relation'],
  task: () => import('./task.ts'),
  tutorial: () => import('./tutorial.ts'),
  columns: () => import('./columns.ts'),
  currentValues: () => import('./currentValues.ts'),
} satisfies KindDefinition
export default discourse
