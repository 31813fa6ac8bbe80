import type { KindDefinition } from 'concord/kinds/kind.ts'

/** Five points for each of two texts: a kind that only the tests know. */
const twoTexts: KindDefinition = {
  key: 'two_texts',
  unit: 'Pair of texts',
  noun: 'rating',
  missing: 'its rating',
  said: (field, value) => `${field} ${value}`,
  fields: ['target', 'input'],
  task: () => import('./task.ts'),
  columns: () => import('./columns.ts'),
}
export default twoTexts
