import type { KindDefinition } from '../kind.ts'

/** Which primary studies a review includes. */
const studies: KindDefinition = {
  key: 'studies',
  unit: 'Review',
  noun: 'list',
  missing: 'its studies',
  strip: { expected: '+', old: 'O', 'other language': 'L', 'no abstract': '−' },
  task: () => import('./task.ts'),
  trial: () => import('./trial.ts'),
}
export default studies
