import { nowhere, type Tutorial, type TutorialUnit } from '../tutorial.ts'
import type { Card, Value } from './state.ts'

const TARGET = 'Nepralin reduces attacks of migraine.'

/** Invented example about a fictitious drug. */
function unit(n: number, title: string, texts: readonly string[], support: number[], why: string): TutorialUnit {
  const card: Card = {
    ...nowhere(n), kind: 'evidence', target: TARGET, review_title: 'Nepralin for migraine', pmid: `try-${n}`, title, ranks: null,
    sentences: texts.map((text, i) => ({ number: i + 1, text, section: '' })),
  }
  const expected: Value = { support, ranked: [] }
  return { card, expected, why, same: (value) => (value as Value).support.join() === support.join() }
}

const tutorial: Tutorial = {
  brief: [
    'Mark the one or two sentences that state what this study found about the intervention and outcome of the target.',
    'An opposite finding is evidence too. Prefer a statement in words; in doubt, the conclusion.',
    'If no sentence does, press 0.',
  ],
  units: [
    unit(1, 'Nepralin to prevent migraine: a randomised trial', [
      'We asked whether nepralin prevents migraine.', 'Attacks fell from 6.1 to 4.2 a month (p = 0.01).', 'Nepralin reduced attacks of migraine.',
    ], [3], 'The conclusion states the result in words.'),
    unit(2, 'Nepralin against placebo', [
      'Adults with migraine took nepralin or placebo.', 'The number of attacks did not differ between the groups.', 'Nausea was common.', 'Further trials are needed.',
    ], [2], '“No difference” is this study’s evidence for the target.'),
    unit(3, 'Safety of nepralin', [
      'We followed 300 people who took nepralin for sciatica.', 'Nausea was the most common complaint.', 'Nepralin was well tolerated.',
    ], [], 'Other patients and another outcome: no sentence supports or contradicts the target.'),
  ],
}
export default tutorial
