import { SLOTS, type Slot } from '../../pico/slots.ts'
import { nowhere, type Trial, type TrialUnit } from '../trial.ts'
import type { Card, Value } from './state.ts'

/** Written by us, of a drug that does not exist; the words of a tuple and of cues are found in the text. */
function unit(n: number, text: string, tuple: Readonly<Record<Slot, string>>, said: [Value['polarity'], string, Value['modality'], string], why: string): TrialUnit {
  const at = (quote: string) => (quote ? [{ start: text.indexOf(quote), end: text.indexOf(quote) + quote.length, quote }] : [])
  const card: Card = {
    ...nowhere(n), kind: 'label', text, role: 'input', candidates: null, asks_cues: true, context: { key: 'try', index: n, size: 3 },
    pico: (Object.keys(SLOTS) as Slot[]).map((slot) => ({
      slot, form: tuple[slot] ? 'explicit' as const : 'blank' as const, text: tuple[slot],
      fragments: at(tuple[slot]).map(({ start, end }) => ({ start, end })),
    })),
  }
  const [polarity, polarityCue, modality, modalityCue] = said
  const expected: Value = { polarity, modality, polarity_cue: at(polarityCue), modality_cue: at(modalityCue) }
  return { card, expected, why, same: (value) => (value as Value).polarity === polarity && (value as Value).modality === modality }
}

const trial: Trial = {
  brief: [
    'Polarity: is the effect good or bad for the outcome? Less of something bad is positive.',
    'Modality: how strongly is it claimed? A plain claim is moderate and needs no cue.',
    '“Did not differ” is a finding: no effect. “Cannot be judged” is no evidence.',
    'Cue: select the shortest words that show the value, then give the value.',
  ],
  units: [
    unit(1, 'Nepralin lowered the risk of relapse compared with placebo.', { p: '', i: 'Nepralin', c: 'placebo', o: 'relapse' },
      ['positive', 'lowered', 'moderate', ''], 'Less risk of something bad is a benefit. Stated plainly, so moderate, without a cue.'),
    unit(2, 'Pain scores did not differ between nepralin and placebo.', { p: '', i: 'nepralin', c: 'placebo', o: 'Pain scores' },
      ['no effect', 'did not differ', 'moderate', ''], 'A difference was looked for and not found: that is a finding.'),
    unit(3, 'There is insufficient evidence that nepralin prevents relapse.', { p: '', i: 'nepralin', c: '', o: 'relapse' },
      ['n/a', '', 'no evidence', 'insufficient evidence'], 'Nothing can be concluded, so polarity is n/a by itself.'),
  ],
}
export default trial
