import type { KindDefinition } from '../kind.ts'

/** The one of four sentences of a study that is most relevant to a target. */
const match = {
  key: 'match',
  inStudies: true,
  unit: 'Target',
  noun: 'match',
  missing: 'a match',
  said: (_, value) => `candidate ${value}`,
  fields: ['most_relevant'],
  task: () => import('./task.ts'),
  tutorial: () => import('./tutorial.ts'),
} satisfies KindDefinition
export default match
