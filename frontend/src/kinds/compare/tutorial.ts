import { tryPage, type TutorialCriterion } from '../../rating/tutorial.ts'
import type { Tutorial, TutorialUnit } from '../tutorial.ts'
import { toValue, type Card, type Choice, type Value } from './state.ts'

const CRITERIA: readonly TutorialCriterion[] = [{
  key: 'preference', name: 'Preference', question: 'Which summary is better?',
  scale: { type: 'preference', options: [
    { value: 'left', label: 'Left', anchor: 'The left one is better' }, { value: 'right', label: 'Right', anchor: 'The right one is better' },
    { value: 'tie', label: 'Tie', anchor: 'Equally good' }, { value: 'neither', label: 'Neither', anchor: 'Both unusable' },
  ] },
}]

function unit(n: number, left: string, right: string, choice: Choice, why: string): TutorialUnit {
  const card = { ...tryPage(n, [left, right], CRITERIA), kind: 'compare' } as Card
  const expected = toValue(card, { choices: { preference: choice }, reasons: {}, item: 0 })
  return { card, expected, why, same: (value) => (value as Value).said[0]?.choice === expected.said[0]!.choice }
}

const tutorial: Tutorial = {
  brief: [
    'Judge both summaries by the source alone, not by your own knowledge.',
    'Correctness counts more than good writing, good writing more than brevity.',
    'Choose tie if both are equally good, neither if both are unusable.',
  ],
  units: [
    unit(1, 'Nepralin halved relapse in adults and improved their sleep.', 'Nepralin did not change relapse. Sleep better.', 'right',
      'The left one reads better but is wrong: relapse was as frequent as with placebo.'),
    unit(2, 'In adults, nepralin left relapse as it was and improved sleep.', 'Sleep improved in adults with nepralin; relapse did not change.', 'tie',
      'Both say the same, both are right, and both read well.'),
    unit(3, 'Nepralin prevents relapse in children.', 'Nepralin worsened sleep and doubled relapse.', 'neither',
      'Children were not studied and relapse was not prevented; both statements of the other one are wrong.'),
  ],
}
export default tutorial
