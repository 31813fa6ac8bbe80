/** Tutorial pages of the kinds that judge summaries. Invented example about a fictitious drug. */

import type { Schemas } from '../api/client.ts'
import { nowhere } from '../kinds/tutorial.ts'
import type { Criterion } from './protocol.ts'

export type TutorialCriterion = Pick<Criterion, 'key' | 'name' | 'question' | 'scale'> & Partial<Criterion>

const SOURCE = 'We followed 124 adults for two years. Relapse came to 31 of 62 with nepralin and to 30 of 62 with placebo. Sleep was better with nepralin.'

/** A tutorial page: source, summaries, and questions without target values. */
export function tryPage(n: number, texts: readonly string[], asked: readonly TutorialCriterion[]) {
  const criteria: Criterion[] = asked.map((one) => ({
    standard: '', group: '', more: '', frame: 'source', beside: '', na: false, na_label: '', required: true,
    reason: { ask: 'none', required_at: [] }, shown_if: null, prefill: [], examples: [], ...one,
  }))
  return {
    ...nowhere(n),
    unit: { id: 0, key: `try-${n}`, unit_name: `try-${n}`, type: 'rating page', context: 0 },
    protocol: { title: '', instructions: '', show: { query: false, source: true, target: 'none' }, hints: false, groups: [], criteria } as unknown as Schemas['ProtocolContent'],
    source: { query: '', title: '', studies: [{ title: '', text: SOURCE }] } as Schemas['SourceShown'],
    target: null,
    texts: texts.map((text, i) => ({ key: `try-${n}-${i}`, text })) as Schemas['PageText'][],
  }
}
