import type { KindDefinition } from '../kind.ts'

/** Which of four sentences of a study is most relevant to a target's conclusion. */
const match: KindDefinition = {
  key: 'match',
  unit: 'Target',
  noun: 'match',
  missing: 'its match',
  said: (_, value) => `sentence ${value}`,
  signs: {},
  fields: ['most_relevant'],
  task: () => import('./task.ts'),
  trial: () => import('./trial.ts'),
}
export default match
