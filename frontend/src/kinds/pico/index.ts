import type { KindDefinition } from '../kind.ts'

/** The propositions of a target sentence, each with its PICO tuple. */
const pico: KindDefinition = {
  key: 'pico',
  unit: 'Sentence',
  noun: 'PICO tuples',
  missing: 'PICO tuples',
  // No `fields`: samples cannot be stratified by texts.
  task: () => import('./task.ts'),
  tutorial: () => import('./tutorial.ts'),
}
export default pico
