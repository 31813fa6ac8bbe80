import { tryPage, type Asked } from '../../rating/trial.ts'
import type { Trial, TrialUnit } from '../trial.ts'
import { toValue, type Card, type Choice, type Value } from './state.ts'

const ASKED: readonly Asked[] = [{
  key: 'preference', name: 'Preference', question: 'Which summary is better?',
  scale: { type: 'preference', options: [
    { value: 'left', label: 'Left', anchor: 'The left one is better' }, { value: 'right', label: 'Right', anchor: 'The right one is better' },
    { value: 'tie', label: 'Tie', anchor: 'Equally good' }, { value: 'neither', label: 'Neither', anchor: 'Both unusable' },
  ] },
}]

function unit(n: number, left: string, right: string, choice: Choice, why: string): TrialUnit {
  const card = { ...tryPage(n, [left, right], ASKED), kind: 'compare' } as Card
  const expected = toValue(card, { choices: { preference: choice }, reasons: {}, item: 0 })
  return { card, expected, why, same: (value) => (value as Value).said[0]?.choice === expected.said[0]!.choice }
}

const trial: Trial = {
  brief: [
    'Judge both summaries by the source alone, not by what you know.',
    'Right comes before well written, and well written before short.',
    'Take tie where you would be glad of either, neither where you could use none.',
  ],
  units: [
    unit(1, 'Nepralin halved relapse in adults and improved their sleep.', 'Nepralin did not change relapse. Sleep better.', 'right',
      'The left one reads better and is wrong: relapse was as frequent as with placebo.'),
    unit(2, 'In adults, nepralin left relapse as it was and improved sleep.', 'Sleep improved in adults with nepralin; relapse did not change.', 'tie',
      'Both say the same, both are right, and both read well.'),
    unit(3, 'Nepralin prevents relapse in children.', 'Nepralin worsened sleep and doubled relapse.', 'neither',
      'Children were not studied and relapse was not prevented; the other one is wrong in both of its statements.'),
  ],
}
export default trial
