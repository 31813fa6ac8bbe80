import type { KindDefinition } from '../kind.ts'

/** How well a passage answers its question. */
const passage = {
  key: 'passage',
  unit: 'Passage',
  noun: 'rating',
  missing: 'a rating',
  strip: { incorrect: '1', related: '2', incomplete: '3', excellent: '4' },
  fields: ['passage_rating'],
  task: () => import('./task.ts'),
  tutorial: () => import('./tutorial.ts'),
} satisfies KindDefinition
export default passage
