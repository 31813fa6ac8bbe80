import type { KindDefinition } from '../kind.ts'

/** Which sentences of a study's abstract support a target sentence. */
const evidence: KindDefinition = {
  key: 'evidence',
  unit: 'Target and study',
  noun: 'evidence',
  missing: 'its evidence',
  strip: { supported: '+', 'no support': '−' },
  task: () => import('./task.ts'),
  trial: () => import('./trial.ts'),
}
export default evidence
