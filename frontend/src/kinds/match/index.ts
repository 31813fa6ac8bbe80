import type { KindDefinition } from '../kind.ts'

/** Which of four sentences of a study is most relevant to a target's conclusion. */
const match = {
  key: 'match',
  unit: 'Target',
  noun: 'match',
  missing: 'its match',
  said: (_, value) => `candidate ${value}`,
  fields: ['most_relevant'],
  task: () => import('./task.ts'),
  trial: () => import('./trial.ts'),
} satisfies KindDefinition
export default match
