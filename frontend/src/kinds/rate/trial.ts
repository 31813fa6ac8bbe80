import { tryPage, type Asked } from '../../rating/trial.ts'
import type { Trial, TrialUnit } from '../trial.ts'
import { saidOf } from './answers.ts'
import { fromValue, toValue, type Card, type Value } from './stored.ts'

const ASKED: readonly Asked[] = [
  {
    key: 'coherence', name: 'Coherence', question: 'Is it one well-ordered text?',
    scale: { type: 'likert', options: [
      { value: '1', label: '1', anchor: 'Sentences do not belong together' }, { value: '2', label: '2', anchor: 'A sentence breaks off or stands apart' },
      { value: '3', label: '3', anchor: 'One topic, but the reader supplies the order' }, { value: '4', label: '4', anchor: 'Well ordered, but for one step' },
      { value: '5', label: '5', anchor: 'Every sentence leads to the next' },
    ] },
  },
  {
    key: 'consistency', name: 'Factual consistency', question: 'Does everything it says follow from the source?',
    scale: { type: 'categorical', options: [
      { value: 'consistent', label: 'Consistent', anchor: 'Every statement follows from the source' },
      { value: 'not consistent', label: 'Not consistent', anchor: 'Contradicted, or not in the source' },
    ] },
  },
]

function unit(n: number, summary: string, coherence: number, consistency: string, why: string): TrialUnit {
  const card = { ...tryPage(n, [summary], ASKED), kind: 'rate' } as Card
  const nothing = saidOf({}, '')
  const expected = toValue(card, [{ coherence: { ...nothing, value: String(coherence) }, consistency: { ...nothing, value: consistency } }])
  const same = (value: unknown) => {
    const [answers] = fromValue(card, value as Value)
    // Of five points the neighbour is no other judgement.
    return Math.abs(Number(saidOf(answers!, 'coherence').value) - coherence) <= 1 && saidOf(answers!, 'consistency').value === consistency
  }
  return { card, expected, why, same }
}

const trial: Trial = {
  brief: [
    'Judge a summary by its source alone, not by what you know.',
    'Answer each question by itself: a well-written summary can be wrong, and a right one badly written.',
    'Something that is not in the source is not consistent with it, even if it is true elsewhere.',
    'Your round may ask other questions. Their answers are worded beside the keys.',
  ],
  units: [
    unit(1, 'In adults, nepralin did not change how often relapse occurred. It did improve sleep.', 5, 'consistent',
      '31 and 30 of 62 are the same, sleep was better, and the second sentence goes on from the first.'),
    unit(2, 'Nepralin is well studied. Over two years it halved relapse in adults, and it improved their sleep too.', 4, 'not consistent',
      'It reads well, but relapse was as frequent as with placebo. One false statement is enough.'),
    unit(3, 'Sleep was better. Relapse was 31 of 62. Two years. Placebo 30 of 62, and adults were', 1, 'consistent',
      'Nothing in it is wrong, but pieces stand side by side and the last breaks off.'),
  ],
}
export default trial
