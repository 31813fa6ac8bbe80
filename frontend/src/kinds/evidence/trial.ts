import { nowhere, type Trial, type TrialUnit } from '../trial.ts'
import type { Card, Value } from './state.ts'

const TARGET = 'Nepralin reduces attacks of migraine.'

/** Written by us, of a drug that does not exist. */
function unit(n: number, title: string, texts: readonly string[], support: number[], why: string): TrialUnit {
  const card: Card = {
    ...nowhere(n), kind: 'evidence', target: TARGET, review_title: 'Nepralin for migraine', pmid: `try-${n}`, title, ranks: null,
    sentences: texts.map((text, i) => ({ number: i + 1, text, section: '' })),
  }
  const expected: Value = { support, ranked: [] }
  return { card, expected, why, same: (value) => (value as Value).support.join() === support.join() }
}

const trial: Trial = {
  brief: [
    'Mark the one or two sentences of the abstract that say what this study found about the intervention and the outcome of the target.',
    'A study that found the opposite is evidence, too. Take the sentence that says it in words; the conclusion, in doubt.',
    'Where no sentence does, press 0.',
  ],
  units: [
    unit(1, 'Nepralin to prevent migraine: a randomised trial', [
      'We asked whether nepralin prevents migraine.', 'Attacks fell from 6.1 to 4.2 a month (p = 0.01).', 'Nepralin reduced attacks of migraine.',
    ], [3], 'The result with its figures leads up to the conclusion, which says it in words.'),
    unit(2, 'Nepralin against placebo', [
      'Adults with migraine took nepralin or placebo.', 'The number of attacks did not differ between the groups.', 'Nausea was common.', 'Further trials are needed.',
    ], [2], 'That there was no difference is this study’s evidence for the target.'),
    unit(3, 'Safety of nepralin', [
      'We followed 300 people who took nepralin for sciatica.', 'Nausea was the most common complaint.', 'Nepralin was well tolerated.',
    ], [], 'It is about other patients and another outcome: nothing in it supports the target, or contradicts it.'),
  ],
}
export default trial
