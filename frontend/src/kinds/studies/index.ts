import type { KindDefinition } from '../kind.ts'

/** Which primary studies a review includes. */
const studies: KindDefinition = {
  key: 'studies',
  unit: 'Review',
  noun: 'list',
  missing: 'its studies',
  said: (_, value) => value,
  signs: {},
  strip: { expected: '+', old: 'O', 'other language': 'L', 'no abstract': '−' },
  fields: [],
  task: () => import('./task.ts'),
  trial: () => import('./trial.ts'),
}
export default studies
