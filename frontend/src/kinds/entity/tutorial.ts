import { nowhere, type Tutorial, type TutorialUnit } from '../tutorial.ts'
import { LANES, type Element } from '../lanes.ts'
import { FIELDS, type Card, type Value } from './state.ts'

/** Invented example about a fictitious drug. `named`: the spans by element. */
function unit(n: number, title: string, text: string, named: Record<Element, readonly string[]>, why: string): TutorialUnit {
  const card: Card = { ...nowhere(n), kind: 'entity', text, title, pmid: `try-${n}`, year: 2020, is_review: false, suggestions: null }
  const spans = (quotes: readonly string[]) =>
    quotes.map((quote) => ({ start: text.indexOf(quote), end: text.indexOf(quote) + quote.length, quote, suggestion: '' as const })).sort((a, b) => a.start - b.start || b.end - a.end)
  const expected: Value = { population_spans: spans(named.p), intervention_spans: spans(named.i), outcome_spans: spans(named.o), rejected_spans: [] }
  const code = (value: Value) => JSON.stringify(LANES.map((element) => value[FIELDS[element]].map((s) => [s.start, s.end])))
  return { card, expected, why, same: (value) => code(value as Value) === code(expected) }
}

const tutorial: Tutorial = {
  brief: [
    'Mark every span that names a population, an intervention or an outcome: select its words, then press P, I or O.',
    'Spans may overlap and nest. Leave out a full stop that stands alone.',
    'Mark what was measured, not the result.',
  ],
  units: [
    unit(1, 'Nepralin to prevent migraine', 'Nepralin reduced attacks in adults with migraine .', { p: ['adults with migraine'], i: ['Nepralin'], o: ['attacks'] }, '“Reduced” is the result; “attacks” were measured.'),
    unit(2, 'Nepralin against placebo', 'Children took nepralin syrup or placebo .', { p: ['Children'], i: ['nepralin syrup', 'placebo'], o: [] }, 'A comparator is an intervention, too. The sentence names no outcome.'),
    unit(3, 'Nepralin and fractures', 'Nepralin lowered the risk of hip fracture in older women .', { p: ['older women'], i: ['Nepralin'], o: ['risk of hip fracture'] }, 'The whole name of the outcome is one span.'),
  ],
}
export default tutorial
