import type { KindDefinition } from '../kind.ts'

/** What a target sentence claims about what: its propositions, each by its PICO tuple. */
const pico: KindDefinition = {
  key: 'pico',
  unit: 'Sentence',
  noun: 'PICO tuples',
  missing: 'its PICO tuples',
  // No sample is stratified by texts.
  task: () => import('./task.ts'),
  trial: () => import('./trial.ts'),
}
export default pico
