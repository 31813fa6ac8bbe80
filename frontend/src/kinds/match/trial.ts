import { nowhere, type Trial, type TrialUnit } from '../trial.ts'
import type { Card, Value } from './state.ts'

/** Written by us, of a drug that does not exist. */
function unit(n: number, target: string, candidates: readonly [string, string, string, string], right: number, why: string): TrialUnit {
  const card: Card = { ...nowhere(n), kind: 'match', target, candidates: candidates.map((text, n) => ({ number: n + 1, text })) }
  return { card, expected: { most_relevant: right }, why, same: (value) => (value as Value).most_relevant === right }
}

const trial: Trial = {
  brief: [
    'Pick the sentence that says most about the target’s claim: the same claim in other words, or one from which it follows.',
    'Another claim about the same intervention and outcome counts as much, whatever its polarity.',
    'Findings come before aims and methods, and the outcome weighs more than shared words.',
  ],
  units: [
    unit(1, 'Nepralin lowers the risk of relapse in adults.', [
      'Adults with a relapse in the last year were eligible.', 'Nepralin was given for twelve weeks.',
      'Patients on active treatment stayed free of attacks for longer than controls.', 'The risk of relapse is high in adults.',
    ], 3, 'It hardly shares a word with the target, and says its claim. The fourth shares most and reports nothing.'),
    unit(2, 'Nepralin improves sleep.', [
      'Sleep quality did not differ between nepralin and placebo.', 'Nepralin improved pain.',
      'Sleep was scored by a questionnaire.', 'Patients with pain often sleep badly.',
    ], 1, 'It contradicts the target, and is about the same intervention and outcome.'),
    unit(3, 'Nepralin is safe in children.', [
      'The safety of nepralin in children is debated.', 'Nepralin reduced attacks in children.',
      'Children were followed up for a year.', 'No child stopped treatment, and laboratory values stayed normal.',
    ], 4, 'That it is safe is said nowhere: it follows from the fourth.'),
  ],
}
export default trial
