import { tryPage, type TutorialCriterion } from '../../rating/tutorial.ts'
import type { Tutorial, TutorialUnit } from '../tutorial.ts'
import { saidOf } from './answers.ts'
import { fromValue, toValue, type Card, type Value } from './stored.ts'

const CRITERIA: readonly TutorialCriterion[] = [
  {
    key: 'coherence', name: 'Coherence', question: 'Is the summary a well-ordered text?',
    scale: { type: 'likert', options: [
      { value: '1', label: '1', anchor: 'Sentences do not belong together' }, { value: '2', label: '2', anchor: 'A sentence is incomplete or unconnected' },
      { value: '3', label: '3', anchor: 'One topic, but without a clear order' }, { value: '4', label: '4', anchor: 'Well ordered, except for one step' },
      { value: '5', label: '5', anchor: 'Every sentence leads to the next' },
    ] },
  },
  {
    key: 'consistency', name: 'Factual consistency', question: 'Do all statements follow from the source?',
    scale: { type: 'categorical', options: [
      { value: 'consistent', label: 'Consistent', anchor: 'Every statement follows from the source' },
      { value: 'not consistent', label: 'Not consistent', anchor: 'Contradicted, or not in the source' },
    ] },
  },
]

function unit(n: number, summary: string, coherence: number, consistency: string, why: string): TutorialUnit {
  const card = { ...tryPage(n, [summary], CRITERIA), kind: 'rate' } as Card
  const unanswered = saidOf({}, '')
  const expected = toValue(card, [{ coherence: { ...unanswered, value: String(coherence) }, consistency: { ...unanswered, value: consistency } }])
  const same = (value: unknown) => {
    const [answers] = fromValue(card, value as Value)
    // One point off on a five-point scale is accepted.
    return Math.abs(Number(saidOf(answers!, 'coherence').value) - coherence) <= 1 && saidOf(answers!, 'consistency').value === consistency
  }
  return { card, expected, why, same }
}

const tutorial: Tutorial = {
  brief: [
    'Judge a summary by its source alone, not by your own knowledge.',
    'Answer each question separately: a well-written summary can be wrong, and a correct one badly written.',
    'A statement that is not in the source is not consistent, even if it is true.',
    'Your round can have other questions. Their answers are shown beside the keys.',
  ],
  units: [
    unit(1, 'In adults, nepralin did not change how often relapse occurred. It did improve sleep.', 5, 'consistent',
      '31 and 30 of 62 are equal, sleep was better, and the second sentence follows from the first.'),
    unit(2, 'Nepralin is well studied. Over two years it halved relapse in adults, and it improved their sleep too.', 4, 'not consistent',
      'It reads well, but relapse was as frequent as with placebo. One false statement is enough.'),
    unit(3, 'Sleep was better. Relapse was 31 of 62. Two years. Placebo 30 of 62, and adults were', 1, 'consistent',
      'All statements are correct, but the parts are not connected and the last is incomplete.'),
  ],
}
export default tutorial
