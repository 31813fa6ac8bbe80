import type { KindDefinition } from '../kind.ts'

/** Every sentence of a review's abstract: which bear evidence, or a class for each. */
const sentences: KindDefinition = {
  key: 'sentences',
  unit: 'Abstract',
  noun: 'reading',
  missing: 'its sentences',
  strip: {
    BACKGROUND: 'B', GOAL: 'G', METHODS: 'M', DETAILED_FINDINGS: 'D', EVIDENCE_QUALITY: 'Q', EFFECT: 'E', RECOMMENDATION: 'R',
    FURTHER_STUDY: 'S', ETC: 'X', TARGET: 'T', OTHER: 'O', picked: '+', 'not picked': '−', neither: '−',
  },
  task: () => import('./task.ts'),
  trial: () => import('./trial.ts'),
}
export default sentences
