import type { KindDefinition } from '../kind.ts'

/** The populations, interventions and outcomes that an abstract names. */
const entity: KindDefinition = {
  key: 'entity',
  unit: 'Abstract',
  noun: 'spans',
  missing: 'spans',
  spans: 'Spans',
  // No `fields`: samples cannot be stratified by spans.
  task: () => import('./task.ts'),
  tutorial: () => import('./tutorial.ts'),
}
export default entity
