import type { KindDefinition } from '../kind.ts'
import { inWords } from './words.ts'

/** Screening: whether a retrieved review belongs in the data set. */
const screen = {
  key: 'screen',
  unit: 'Review',
  noun: 'decision',
  missing: 'a screening decision',
  said: (field, value) => (field === 'screening' ? inWords(value) : value),
  strip: { include: '+' },
  fields: ['screening'],
  task: () => import('./task.ts'),
  tutorial: () => import('./tutorial.ts'),
} satisfies KindDefinition
export default screen
