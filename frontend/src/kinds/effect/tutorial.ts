import { nowhere, type Tutorial, type TutorialUnit } from '../tutorial.ts'
import type { Card, Direction, Value } from './state.ts'

/** Invented example about a fictitious drug. */
function unit(n: number, outcome: string, direction: Direction, sentence: number | null, why: string): TutorialUnit {
  const texts = ['We randomised 120 adults with migraine to nepralin or placebo .', 'Nepralin reduced attacks ( p < 0.01 ) .', 'Nausea did not differ between the groups ( p = 0.4 ) .', 'Nepralin prevents attacks of migraine .']
  const card: Card = {
    ...nowhere(n), kind: 'effect', intervention: 'nepralin', outcome, title: 'Nepralin to prevent migraine: a randomised trial', pmid: `try-${n}`, year: 2020, is_review: false, suggested: null,
    sentences: texts.map((text, i) => ({ number: i + 1, text, section: '' })),
  }
  const expected: Value = { effect_direction: direction, effect_sentence: sentence, suggestion: '' }
  return { card, expected, why, same: (value) => (value as Value).effect_direction === direction && ((value as Value).effect_sentence === sentence || direction === 'decreased') }
}

const tutorial: Tutorial = {
  brief: [
    'Say whether the outcome rises or falls under the intervention: A decreased, S no difference, D increased.',
    'Type the number of the sentence that shows it. Direction and sentence can be given in either order.',
    'Press 0 if the abstract does not state this effect.',
  ],
  units: [
    unit(1, 'attacks', 'decreased', 2, 'Sentences 2 and 4 both show that attacks fall.'),
    unit(2, 'nausea', 'no difference', 3, '“Did not differ” is no significant difference.'),
    unit(3, 'quality of life', 'not reported', null, 'The abstract does not mention quality of life.'),
  ],
}
export default tutorial
