import { nowhere, type Tutorial, type TutorialUnit } from '../tutorial.ts'
import type { Rating, Value } from './state.ts'

/** Invented example about a fictitious drug. */
function unit(n: number, question: string, text: string, rating: Rating, why: string): TutorialUnit {
  return {
    card: { ...nowhere(n), kind: 'passage', question, text, url: '', is_page: false },
    expected: { passage_rating: rating },
    why,
    same: (value) => (value as Value).passage_rating === rating,
  }
}

const tutorial: Tutorial = {
  brief: [
    'Judge whether the passage answers the question, not its style.',
    'Judge the passage alone: another passage of the same question may say more.',
  ],
  units: [
    unit(1, 'Can I take nepralin while I am pregnant?',
      'Nepralin in pregnancy: Nepralin must not be taken during pregnancy. If you become pregnant, stop taking it and tell your doctor.',
      'excellent', 'It answers the whole question.'),
    unit(2, 'How much nepralin should I take, and for how long?',
      'Nepralin (Dosage): The usual dose for adults is one tablet in the morning.',
      'incomplete', 'It says how much, but not for how long.'),
    unit(3, 'Does nepralin make you tired?',
      'Nepralin (About): Nepralin is used to prevent attacks of migraine. It is available as tablets.',
      'related', 'The same drug, but nothing about being tired.'),
  ],
}
export default tutorial
