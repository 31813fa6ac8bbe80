import type { KindDefinition } from '../kind.ts'

/** The sentences of a review's abstract: which contain evidence, or a class for each. */
const sentences: KindDefinition = {
  key: 'sentences',
  unit: 'Abstract',
  noun: 'reading',
  missing: 'sentence values',
  strip: {
    BACKGROUND: 'B', GOAL: 'G', METHODS: 'M', DETAILED_FINDINGS: 'D', EVIDENCE_QUALITY: 'Q', EFFECT: 'E', RECOMMENDATION: 'R',
    FURTHER_STUDY: 'S', ETC: 'X', TARGET: 'T', OTHER: 'O', picked: '+', 'not picked': '−', neither: '−',
  },
  task: () => import('./task.ts'),
  tutorial: () => import('./tutorial.ts'),
}
export default sentences
