import { typed } from '../../pico/said.ts'
import type { Slot } from '../../pico/slots.ts'
import { nowhere, type Trial, type TrialUnit } from '../trial.ts'
import { toValue, type Card, type Value } from './state.ts'

const plain = (text: string) => text.trim().toLowerCase().replace(/\s+/g, ' ')
const told = (value: Value) => value.tuples.map((row) => (['p', 'i', 'c', 'o'] as const).map((slot) => plain(row[slot].text)).join('|')).sort().join()

/** Written by us, of drugs that do not exist. */
function unit(n: number, text: string, rows: readonly Record<Slot, string>[], why: string): TrialUnit {
  const card: Card = { ...nowhere(n), kind: 'pico', text, key: `try-${n}`, title: 'Nepralin for asthma', in_force: null }
  const said = (row: Record<Slot, string>, slot: Slot) => typed(row[slot], text)
  const expected = toValue(text, rows.map((row) => ({
    p: said(row, 'p'), i: said(row, 'i'), c: said(row, 'c'), o: said(row, 'o'), standsFor: '', copy: 'no' as const,
  })))
  return { card, expected, why, same: (value) => told(value as Value) === told(expected) }
}

const trial: Trial = {
  brief: [
    'A sentence makes as many propositions as it has tuples: two outcomes are two propositions. N begins the next one with the same slots.',
    'Select the shortest words that name a slot; they go into the outlined one, and a slot key moves them.',
    'What the sentence only implies is typed: press the slot’s key without a selection. The brackets are drawn for you.',
  ],
  units: [
    unit(1, 'Nepralin lowered the risk of relapse compared with placebo.',
      [{ p: '', i: 'Nepralin', c: 'placebo', o: 'risk of relapse' }], 'One claim. No patients are named, so P is blank.'),
    unit(2, 'In adults with asthma, nepralin improved sleep and lowered relapse.',
      [{ p: 'adults with asthma', i: 'nepralin', c: '', o: 'sleep' }, { p: 'adults with asthma', i: 'nepralin', c: '', o: 'relapse' }],
      'Two outcomes, two propositions: N, then the second outcome.'),
    unit(3, 'They did not change pain.', [{ p: '', i: '[nepralin tablets]', c: '', o: 'pain' }],
      '“They” are the nepralin tablets of the sentence before: implied, so in brackets.'),
  ],
}
export default trial
