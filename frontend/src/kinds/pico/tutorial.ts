import { inputOfText } from '../../pico/elementInput.ts'
import type { ElementKey } from '../../pico/elements.ts'
import { nowhere, type Tutorial, type TutorialUnit } from '../tutorial.ts'
import { toValue, type Card, type Value } from './state.ts'

const plain = (text: string) => text.trim().toLowerCase().replace(/\s+/g, ' ')
const signature = (value: Value) => value.tuples.map((row) => (['p', 'i', 'c', 'o'] as const).map((element) => plain(row[element].text)).join('|')).sort().join()

/** Invented example about fictitious drugs. */
function unit(n: number, text: string, rows: readonly Record<ElementKey, string>[], why: string): TutorialUnit {
  const card: Card = { ...nowhere(n), kind: 'pico', text, key: `try-${n}`, title: 'Nepralin for asthma', current: null }
  const said = (row: Record<ElementKey, string>, element: ElementKey) => inputOfText(row[element], text)
  const expected = toValue(text, rows.map((row) => ({
    p: said(row, 'p'), i: said(row, 'i'), c: said(row, 'c'), o: said(row, 'o'), standsFor: '', copy: 'no' as const,
  })))
  return { card, expected, why, same: (value) => signature(value as Value) === signature(expected) }
}

const tutorial: Tutorial = {
  brief: [
    'A sentence has one proposition per PICO tuple: two outcomes are two propositions. N copies a proposition.',
    'Select the shortest words that name an element. They fill the outlined element; an element key moves them.',
    'Type implied text: press the element’s key without a selection. Brackets are added automatically.',
  ],
  units: [
    unit(1, 'Nepralin lowered the risk of relapse compared with placebo.',
      [{ p: '', i: 'Nepralin', c: 'placebo', o: 'risk of relapse' }], 'One claim. No patients are named, so P is blank.'),
    unit(2, 'In adults with asthma, nepralin improved sleep and lowered relapse.',
      [{ p: 'adults with asthma', i: 'nepralin', c: '', o: 'sleep' }, { p: 'adults with asthma', i: 'nepralin', c: '', o: 'relapse' }],
      'Two outcomes, two propositions: N, then the second outcome.'),
    unit(3, 'They did not change pain.', [{ p: '', i: '[nepralin tablets]', c: '', o: 'pain' }],
      '“They” are the nepralin tablets of the previous sentence: implied, so in brackets.'),
  ],
}
export default tutorial
