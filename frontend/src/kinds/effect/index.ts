import type { KindDefinition } from '../kind.ts'

/** The effect of an intervention on an outcome, as one abstract states it. */
const effect: KindDefinition = {
  key: 'effect',
  unit: 'Pair',
  noun: 'effect',
  missing: 'an effect',
  spans: 'Sentences',
  fields: ['effect_direction'],
  task: () => import('./task.ts'),
  tutorial: () => import('./tutorial.ts'),
}
export default effect
