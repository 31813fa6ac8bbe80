import { tryPage, type TutorialCriterion } from '../../rating/tutorial.ts'
import type { Tutorial, TutorialUnit } from '../tutorial.ts'
import { ENDS, toValue, type Card, type Value } from './state.ts'

const CRITERIA: readonly TutorialCriterion[] = [{
  key: 'best-worst', name: 'Best and worst', question: 'Which summary is the best, and which is the worst?',
  scale: { type: 'best-worst', options: [
    { value: 'best', label: 'Best', anchor: 'You would pass this one on' }, { value: 'neither', label: 'Neither', anchor: 'Neither the best nor the worst' },
    { value: 'worst', label: 'Worst', anchor: 'You would withhold this one first' },
  ] },
}]

function unit(n: number, texts: readonly [string, string, string, string], best: number, worst: number, why: string): TutorialUnit {
  const card = { ...tryPage(n, texts, CRITERIA), kind: 'best_worst' } as Card
  const expected = toValue(card, { picks: { 'best-worst': { best: best - 1, worst: worst - 1 } }, item: 0 })
  const chosen = (value: Value) => ENDS.map((end) => value.texts.find((t) => t.said[0]?.value === end)?.text).join()
  return { card, expected, why, same: (value) => chosen(value as Value) === chosen(expected) }
}

const tutorial: Tutorial = {
  brief: [
    'Judge all summaries by the source alone, not by your own knowledge.',
    'Press the number of the best, then the number of the worst, then Enter.',
    'Correctness counts more than good writing, good writing more than brevity.',
  ],
  units: [
    unit(1, [
      'Nepralin halved relapse in adults.', 'Nepralin did not change relapse in adults, and it improved their sleep.',
      'Nepralin did not change relapse.', 'Nepralin halved relapse in children and harmed their sleep.',
    ], 2, 4, 'Two has both results. One and four are wrong about relapse, and four is also wrong about sleep and the people.'),
    unit(2, [
      'Sleep was better; relapse was as frequent as with placebo.', 'Sleep was better.', 'Nepralin prevents relapse and does not affect sleep.',
      'Relapse did not change.',
    ], 1, 3, 'One has both results. Two and four have one each. Both statements of three are wrong.'),
    unit(3, [
      'Nepralin was studied for two years in adults.', 'Nepralin doubled relapse.', 'Relapse was 31 of 62 and 30 of 62. Sleep better.',
      'Over two years relapse was equally frequent with nepralin and placebo, and sleep was better with nepralin.',
    ], 4, 2, 'Four is complete and well written. Three is complete but broken, one has no result, and two is wrong.'),
  ],
}
export default tutorial
