import type { KindDefinition } from '../kind.ts'

/** Sentences of a study's abstract that support a target sentence. */
const evidence: KindDefinition = {
  key: 'evidence',
  unit: 'Target and study',
  noun: 'evidence',
  missing: 'evidence',
  strip: { supported: '+', 'no support': '−' },
  task: () => import('./task.ts'),
  tutorial: () => import('./tutorial.ts'),
}
export default evidence
