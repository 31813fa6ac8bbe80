import type { KindDefinition } from '../kind.ts'

/** Which inputs of its sentence support one proposition. */
const assignEvidence: KindDefinition = {
  key: 'assign_evidence',
  unit: 'Proposition',
  noun: 'evidence',
  missing: 'its inputs',
  strip: { supports: '+', 'does not': '−' },
  task: () => import('./task.ts'),
  trial: () => import('./trial.ts'),
}
export default assignEvidence
