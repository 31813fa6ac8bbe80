import { nowhere, type Tutorial, type TutorialUnit } from '../tutorial.ts'
import { difference } from './wordEdits.ts'
import type { Card, Field, Said, Value } from './words.ts'

const drafted = (rule: Said['rule'], text: string): Said => ({ text, origin: 'drafted', rule, reason: '' })

/** Invented example about a fictitious drug. Any text of the kind is right; if none applies, any reason. */
function unit(n: number, text: string, label: Pick<Card, 'polarity' | 'modality'>, asked: Card['asked'][number], expected: Said, why: string): TutorialUnit {
  const field: Field = asked.field
  const value: Value = { [field]: expected }
  return {
    card: { ...nowhere(n), kind: 'counterfactual', text, cluster: `try-${n}`, pico: [], ...label, polarity_cue: [], modality_cue: [], asked: [asked], hedges: [], boosters: [] },
    expected: value,
    why,
    same: (given) => {
      const said = (given as Value)[field]
      if (!said) return false
      const words = difference(text, said.text).words
      return Boolean(said.reason) === Boolean(expected.reason) && (Boolean(said.reason) || (words !== null && words > 0 && words <= 5))
    },
  }
}

const LOWER = 'Nepralin led to lower pain scores than placebo.'
const RELAPSE = 'Nepralin reduces relapse in adults with migraine.'
const NOTHING = 'There is no evidence on nepralin in children.'

const tutorial: Tutorial = {
  brief: [
    'Make one aspect of the target false, change at most five words, and keep the PICO.',
    'Use a draft, edit it, or choose why the kind does not apply. Rules ignore grammar, so read the draft first.',
  ],
  units: [
    unit(1, LOWER, { polarity: 'positive', modality: 'moderate' },
      { field: 'antonym', should: 'polarity should no longer be positive', drafts: [{ rule: 'antonym', text: LOWER.replace('lower', 'higher') }] },
      drafted('antonym', LOWER.replace('lower', 'higher')), '“Lower” expresses the direction; its opposite reverses it.'),
    unit(2, RELAPSE, { polarity: 'positive', modality: 'moderate' },
      { field: 'modality', should: 'modality should become weak', drafts: [{ rule: 'hedge added', text: RELAPSE.replace('reduces', 'may reduce') }] },
      drafted('hedge added', RELAPSE.replace('reduces', 'may reduce')), 'A moderate claim is hedged; the direction stays.'),
    unit(3, NOTHING, { polarity: 'n/a', modality: 'no evidence' },
      { field: 'no_effect', should: 'does not apply to this label', drafts: [] },
      { text: '', origin: '', rule: '', reason: 'no claim' }, 'Without a claim there is no effect to remove.'),
  ],
}
export default tutorial
