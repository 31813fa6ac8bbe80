import { ORDER } from '../../pico/elements.ts'
import { nowhere, type Tutorial, type TutorialUnit } from '../tutorial.ts'
import { toValue, type Card, type Typed, type Value } from './state.ts'

const plain = (text: string) => text.trim().toLowerCase().replace(/\s+/g, ' ')

/** Invented example about a fictitious drug. */
function unit(n: number, text: string, typed: Omit<Typed, 'standsFor'>, why: string): TutorialUnit {
  const card: Card = { ...nowhere(n), kind: 'tuple', text, cluster: 'try', current: null }
  const expected = toValue({ ...typed, standsFor: '' })
  return { card, expected, why, same: (value) => ORDER.every((element) => plain((value as Value)[element].text) === plain(expected[element].text)) }
}

const tutorial: Tutorial = {
  brief: [
    'P: who was studied. I: the treatment. C: the comparison. O: what was measured.',
    'Use the shortest words of the text that name an element. Leave elements blank that are not named.',
    'Put text that is implied but not stated in [brackets].',
  ],
  units: [
    unit(1, 'Nepralin lowered the risk of relapse compared with placebo.', { p: '', i: 'Nepralin', c: 'placebo', o: 'risk of relapse' },
      'No patients are named, so P is blank.'),
    unit(2, 'In adults with asthma, nepralin did not change sleep.', { p: 'adults with asthma', i: 'nepralin', c: '', o: 'sleep' },
      'No comparator is named, so C is blank. “In” is not part of P.'),
    unit(3, 'Compared with surgery, pain was lower with nepralin.', { p: '', i: 'nepralin', c: 'surgery', o: 'pain' },
      'The claim is about nepralin; surgery is the comparator.'),
  ],
}
export default tutorial
