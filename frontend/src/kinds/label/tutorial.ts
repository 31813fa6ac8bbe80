import { ELEMENTS, type ElementKey } from '../../pico/elements.ts'
import { nowhere, type Tutorial, type TutorialUnit } from '../tutorial.ts'
import type { Card, Value } from './state.ts'

/** Invented example about a fictitious drug. PICO elements and cues are located in the text. */
function unit(n: number, text: string, tuple: Readonly<Record<ElementKey, string>>, said: [Value['polarity'], string, Value['modality'], string], why: string): TutorialUnit {
  const at = (quote: string) => (quote ? [{ start: text.indexOf(quote), end: text.indexOf(quote) + quote.length, quote }] : [])
  const card: Card = {
    ...nowhere(n), kind: 'label', text, role: 'input', candidates: null, asks_cues: true, context: { key: 'try', index: n, size: 3 },
    pico: (Object.keys(ELEMENTS) as ElementKey[]).map((element) => ({
      element, form: tuple[element] ? 'explicit' as const : 'blank' as const, text: tuple[element],
      fragments: at(tuple[element]).map(({ start, end }) => ({ start, end })),
    })),
  }
  const [polarity, polarityCue, modality, modalityCue] = said
  const expected: Value = { polarity, modality, polarity_cue: at(polarityCue), modality_cue: at(modalityCue) }
  return { card, expected, why, same: (value) => (value as Value).polarity === polarity && (value as Value).modality === modality }
}

const tutorial: Tutorial = {
  brief: [
    'Polarity: is the effect good or bad for patients? Less of something bad is positive.',
    'Modality: how strong is the claim? A plain claim is moderate and needs no cue.',
    '“Did not differ” is a finding: no effect. “Cannot be judged” is no evidence.',
    'Cue: select the shortest words that show the value, then choose the value.',
  ],
  units: [
    unit(1, 'Nepralin lowered the risk of relapse compared with placebo.', { p: '', i: 'Nepralin', c: 'placebo', o: 'relapse' },
      ['positive', 'lowered', 'moderate', ''], 'Less risk of something bad is a benefit. A plain statement is moderate, without a cue.'),
    unit(2, 'Pain scores did not differ between nepralin and placebo.', { p: '', i: 'nepralin', c: 'placebo', o: 'Pain scores' },
      ['no effect', 'did not differ', 'moderate', ''], 'No difference was found: that is a finding.'),
    unit(3, 'There is insufficient evidence that nepralin prevents relapse.', { p: '', i: 'nepralin', c: '', o: 'relapse' },
      ['n/a', '', 'no evidence', 'insufficient evidence'], 'Nothing can be concluded, so polarity is n/a automatically.'),
  ],
}
export default tutorial
