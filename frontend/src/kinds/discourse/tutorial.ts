import { nowhere, type Tutorial, type TutorialUnit } from '../tutorial.ts'
import type { Card, Relation, Value } from './state.ts'

type Claim = Card['propositions'][number]

/** Invented example about a fictitious drug. */
function unit(n: number, outcome: string, target: string, inputs: readonly [string, Claim['polarity'], Claim['modality']][], relation: Relation, why: string): TutorialUnit {
  const element = (name: 'p' | 'i' | 'c' | 'o', text: string) => ({ element: name, form: text ? 'explicit' as const : 'blank' as const, text, stands_for: '' as const, fragments: [] })
  const card: Card = {
    ...nowhere(n), kind: 'discourse', suggested: null,
    pico: [element('p', ''), element('i', 'nepralin'), element('c', 'placebo'), element('o', outcome)],
    propositions: [{ position: 0, text: target, polarity: null, modality: null },
      ...inputs.map(([text, polarity, modality], i) => ({ position: i + 1, text, polarity, modality }))],
  }
  return { card, expected: { relation }, why, same: (value) => (value as Value).relation === relation }
}

const tutorial: Tutorial = {
  brief: [
    'Do the inputs agree about the PICO tuple? Compare them with each other, not with the target.',
    'A benefit and “no effect” are a contradiction. Stronger or weaker wording alone is not.',
  ],
  units: [
    unit(1, 'relapse', 'Nepralin reduces relapse.', [
      ['Nepralin lowered the risk of relapse.', 'positive', 'moderate'], ['Fewer relapses occurred with nepralin.', 'positive', 'moderate'],
    ], 'agreement', 'Both report a benefit.'),
    unit(2, 'pain', 'The effect of nepralin on pain is uncertain.', [
      ['Nepralin reduced pain.', 'positive', 'moderate'], ['Pain did not differ between the groups.', 'no effect', 'moderate'],
    ], 'contradiction', 'One reports a benefit, the other no difference.'),
    unit(3, 'sleep', 'Nepralin may improve sleep.', [
      ['Nepralin clearly improved sleep.', 'positive', 'strong'], ['Nepralin may improve sleep.', 'positive', 'weak'],
    ], 'agreement', 'Both report a benefit; only the strength differs.'),
  ],
}
export default tutorial
