import { ORDER } from '../../pico/slots.ts'
import { nowhere, type Trial, type TrialUnit } from '../trial.ts'
import { toValue, type Card, type Typed, type Value } from './state.ts'

const plain = (text: string) => text.trim().toLowerCase().replace(/\s+/g, ' ')

/** Written by us, of a drug that does not exist. */
function unit(n: number, text: string, typed: Omit<Typed, 'standsFor'>, why: string): TrialUnit {
  const card: Card = { ...nowhere(n), kind: 'tuple', text, cluster: 'try', in_force: null }
  const expected = toValue({ ...typed, standsFor: '' })
  return { card, expected, why, same: (value) => ORDER.every((slot) => plain((value as Value)[slot].text) === plain(expected[slot].text)) }
}

const trial: Trial = {
  brief: [
    'P is who was studied, I what was given, C what it was compared with, O what was measured.',
    'Take the shortest words of the text that name a slot. Leave blank what is not named.',
    'What the context implies and the text does not say stands in [brackets].',
  ],
  units: [
    unit(1, 'Nepralin lowered the risk of relapse compared with placebo.', { p: '', i: 'Nepralin', c: 'placebo', o: 'risk of relapse' },
      'No patients are named, so P is blank.'),
    unit(2, 'In adults with asthma, nepralin did not change sleep.', { p: 'adults with asthma', i: 'nepralin', c: '', o: 'sleep' },
      'No comparator is named, so C is blank. “In” is no part of P.'),
    unit(3, 'Compared with surgery, pain was lower with nepralin.', { p: '', i: 'nepralin', c: 'surgery', o: 'pain' },
      'The claim is about nepralin; surgery is what it is compared with.'),
  ],
}
export default trial
