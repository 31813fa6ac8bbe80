import type { KindDefinition } from '../kind.ts'

/** Summaries of the passages of a question, written by people. */
const write: KindDefinition = {
  key: 'write',
  unit: 'Question',
  noun: 'summaries',
  missing: 'summaries',
  task: () => import('./task.ts'),
  tutorial: () => import('./tutorial.ts'),
}
export default write
