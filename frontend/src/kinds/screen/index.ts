import type { KindDefinition } from '../kind.ts'
import { inWords } from './state.ts'

/** Whether a retrieved review belongs in the data set. */
const screen = {
  key: 'screen',
  unit: 'Review',
  noun: 'decision',
  missing: 'its screening',
  said: (field, value) => (field === 'screening' ? inWords(value) : value),
  strip: { include: '+' },
  fields: ['screening'],
  task: () => import('./task.ts'),
  trial: () => import('./trial.ts'),
} satisfies KindDefinition
export default screen
