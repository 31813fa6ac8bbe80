import type { KindDefinition } from '../kind.ts'

/** A target rewritten so that one aspect of it is false. */
const counterfactual = {
  key: 'counterfactual',
  unit: 'Target',
  noun: 'counterfactuals',
  missing: 'counterfactuals',
  said: (field, value) => `${field.replace('_', ' ')}: ${value}`,
  fields: ['negation', 'antonym', 'no_effect', 'no_evidence', 'modality'],
  task: () => import('./task.ts'),
  tutorial: () => import('./tutorial.ts'),
  columns: () => import('./columns.ts'),
} satisfies KindDefinition
export default counterfactual
