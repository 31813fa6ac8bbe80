import { nowhere, type Tutorial, type TutorialUnit } from '../tutorial.ts'
import type { Card, Value } from './state.ts'

/** Invented example about a fictitious drug. */
function unit(n: number, target: string, candidates: readonly [string, string, string, string], right: number, why: string): TutorialUnit {
  const card: Card = { ...nowhere(n), kind: 'match', target, candidates: candidates.map((text, n) => ({ number: n + 1, text })) }
  return { card, expected: { most_relevant: right }, why, same: (value) => (value as Value).most_relevant === right }
}

const tutorial: Tutorial = {
  brief: [
    'Choose the sentence that is most informative about the target’s claim: the same claim in other words, or one that implies it.',
    'A claim about the same intervention and outcome counts equally, whatever its polarity.',
    'Findings count more than aims and methods, and the outcome more than shared words.',
  ],
  units: [
    unit(1, 'Nepralin lowers the risk of relapse in adults.', [
      'Adults with a relapse in the last year were eligible.', 'Nepralin was given for twelve weeks.',
      'Patients on active treatment stayed free of attacks for longer than controls.', 'The risk of relapse is high in adults.',
    ], 3, 'It states the claim of the target in other words. The fourth shares most words but reports no finding.'),
    unit(2, 'Nepralin improves sleep.', [
      'Sleep quality did not differ between nepralin and placebo.', 'Nepralin improved pain.',
      'Sleep was scored by a questionnaire.', 'Patients with pain often sleep badly.',
    ], 1, 'It contradicts the target but is about the same intervention and outcome.'),
    unit(3, 'Nepralin is safe in children.', [
      'The safety of nepralin in children is debated.', 'Nepralin reduced attacks in children.',
      'Children were followed up for a year.', 'No child stopped treatment, and laboratory values stayed normal.',
    ], 4, 'No sentence states that it is safe, but the fourth implies it.'),
  ],
}
export default tutorial
