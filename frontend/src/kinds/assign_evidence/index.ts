import type { KindDefinition } from '../kind.ts'

/** Which inputs of its sentence support one proposition. */
const assignEvidence: KindDefinition = {
  key: 'assign_evidence',
  unit: 'Proposition',
  noun: 'evidence',
  missing: 'inputs',
  strip: { supports: '+', 'does not': '−' },
  task: () => import('./task.ts'),
  tutorial: () => import('./tutorial.ts'),
}
export default assignEvidence
