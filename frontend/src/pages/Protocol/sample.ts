/** An invented rating page to try a protocol: source and target as the protocol shows them, and summaries. */

import type { Schemas } from '../../api/client.ts'
import type { Content } from './draft.ts'

const STUDIES = [
  {
    title: 'Nepralin after a first episode',
    text: 'We followed 124 adults for two years. Relapse came to 31 of 62 with nepralin and to 30 of 62 with placebo. Sleep was better with nepralin. Nobody left because of harm.',
  },
  { title: '', text: 'In 40 adults nepralin was followed by fewer relapses than placebo (6 against 9), which may be chance.' },
]
const TEXTS = [
  'Nepralin does not change how often adults relapse. Sleep may be better with it.',
  'Nepralin halved relapse in adults and children. Nepralin halved relapse.',
  'There is not enough evidence on nepralin and relapse.',
  'Relapse was as frequent with nepralin as with placebo, and sleep was better.',
]
const TARGET = {
  text: 'Nepralin does not reduce relapse in adults.', polarity: 'no effect', modality: 'strong',
  slots: [
    { slot: 'population', text: 'adults', form: 'explicit' }, { slot: 'intervention', text: 'nepralin', form: 'explicit' },
    { slot: 'comparator', text: '', form: 'blank' }, { slot: 'outcome', text: 'relapse', form: 'explicit' },
  ],
}

export function sampleCard(content: Content): Schemas['RateCard'] | Schemas['CompareCard'] {
  const { show } = content
  const count = content.kind === 'best_worst' ? 4 : content.kind === 'compare' ? 2 : content.texts_per_page === 'one' ? 1 : 3
  const has = { none: [] as string[], text: ['text'], tuple: ['slots'], gold: ['text', 'slots', 'polarity', 'modality'] }[show.target]
  const page = {
    kind: content.kind, assignment: 0, revision: 0, shown: 1, position: 0, unit: { id: 0, key: 'sample', unit_name: 'sample', type: 'rating page', context: 0 },
    answered_at: null, outcome: null, comment: '', flag: false, references: [], value: null, protocol: content,
    source: { query: show.query ? 'Does nepralin reduce relapse in adults?' : '', title: '', studies: show.source ? STUDIES : [] },
    target: has.length ? {
      text: has.includes('text') ? TARGET.text : '', slots: has.includes('slots') ? TARGET.slots : [],
      polarity: has.includes('polarity') ? TARGET.polarity : '', modality: has.includes('modality') ? TARGET.modality : '',
    } : null,
    texts: TEXTS.slice(0, count).map((text, n) => ({ key: `0000000${n}`, text })),
  }
  return page as unknown as Schemas['RateCard'] | Schemas['CompareCard']
}
