import { nowhere, type Tutorial, type TutorialUnit } from '../tutorial.ts'
import type { Card, Value } from './state.ts'

const TEXT = 'Nepralin reduces attacks of migraine and improves sleep.'

/** Invented example about a fictitious drug. */
function unit(n: number, outcome: string, texts: readonly (readonly [text: string, supports: boolean])[], why: string): TutorialUnit {
  const card: Card = {
    ...nowhere(n), kind: 'assign_evidence', text: TEXT,
    pico: (['p', 'i', 'c', 'o'] as const).map((element) => {
      const text = { p: '', i: 'Nepralin', c: '', o: outcome }[element]
      return { element, form: text ? 'explicit' : 'blank', text, stands_for: '', fragments: [] }
    }),
    inputs: texts.map(([text], i) => ({ number: i + 1, pmid: '', text })),
  }
  const expected: Value = { supporting: texts.map(([, supports], i) => ({ number: i + 1, said: supports ? 'supports' : 'does not' })) }
  return { card, expected, why, same: (value) => JSON.stringify((value as Value).supporting) === JSON.stringify(expected.supporting) }
}

const tutorial: Tutorial = {
  brief: [
    'A sentence can have several propositions. Tick the texts about the intervention and outcome of this proposition, whatever they found.',
    'A ticks all texts, a digit one of them. Texts that are not ticked do not support the proposition.',
  ],
  units: [
    unit(1, 'sleep', [['Sleep improved on nepralin.', true], ['Attacks were fewer.', false]], 'Attacks are the outcome of another proposition of the sentence.'),
    unit(2, 'attacks of migraine', [['Attacks did not differ between the groups.', true], ['Attacks fell by a third.', true], ['Patients slept longer.', false]], 'A contradicting finding is evidence too: intervention and outcome count.'),
    unit(3, 'sleep', [['Neither attacks nor sleep changed.', true], ['Sleep was better, and attacks were fewer.', true]], 'Both mention sleep.'),
  ],
}
export default tutorial
