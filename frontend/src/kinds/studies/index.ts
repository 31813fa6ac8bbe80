import type { KindDefinition } from '../kind.ts'

/** The primary studies that a review includes. */
const studies: KindDefinition = {
  key: 'studies',
  unit: 'Review',
  noun: 'list',
  missing: 'studies',
  strip: { expected: '+', old: 'O', 'other language': 'L', 'no abstract': '−' },
  task: () => import('./task.ts'),
  tutorial: () => import('./tutorial.ts'),
}
export default studies
