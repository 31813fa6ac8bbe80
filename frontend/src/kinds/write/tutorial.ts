import { nowhere, type Tutorial, type TutorialUnit } from '../tutorial.ts'
import type { Form, Value } from './state.ts'

type Given = Value['steps'][number]

/** Invented examples about a fictitious drug: one passage, given as its sentences, and one summary. */
function unit(
  n: number, question: string, sentences: readonly string[], form: Form, expected: readonly string[], why: string, same: (given: Given) => boolean,
): TutorialUnit {
  const text = sentences.join(' ')
  const key = `try-${n}-1`
  const range = (part: string) => ({ start: text.indexOf(part), end: text.indexOf(part) + part.length })
  const passage = { key, text, url: '', is_page: false, rating: null, title_end: sentences[0]!.length, sentences: sentences.map(range) }
  const chunks = form === 'extractive' ? expected.map((quote) => ({ passage: key, ...range(quote), quote })) : []
  return {
    card: {
      ...nowhere(n), kind: 'write', question, passages: [passage], asked_steps: [{ passage: key, form, limit: 40 }],
      limit_unit: 'words', limits_refuse: false, joiner: ' ', starts_from_extractive: true,
    },
    expected: { steps: [{ passage: key, form, text: expected.join(' '), nothing: !expected.length, chunks }] },
    why,
    same: (value) => (value as Value).steps.length === 1 && (value as Value).steps[0]!.passage === key && same((value as Value).steps[0]!),
  }
}

const dose = 'Adults take one tablet in the morning.'
const tired = 'Nepralin can make you tired.'
const drive = 'Do not drive until you know how it affects you.'

const tutorial: Tutorial = {
  brief: [
    'Extractive: choose the parts of the passage that answer the question, word for word.',
    'Abstractive: write the answer in your own sentences, only from the passage.',
    'Mark “Nothing relevant” if nothing in the passage answers the question.',
  ],
  units: [
    unit(1, 'How much nepralin should I take?', ['Nepralin (Dosage):', 'Nepralin is available as tablets.', dose, 'Keep the tablets dry.'], 'extractive', [dose],
      'Only this sentence answers the question.', (s) => s.text === dose),
    unit(2, 'Can I drive a car while I take nepralin?', ['Nepralin (Side effects):', 'Most people have none.', tired, drive], 'abstractive',
      ['Nepralin can make you tired, so do not drive until you know how it affects you.'],
      'It answers the question and adds nothing that the passage does not state. Your text is not compared word for word.', (s) => /driv/i.test(s.text)),
    unit(3, 'Does nepralin interact with alcohol?', ['Nepralin (About):', 'Nepralin is used to prevent attacks of migraine.', 'It is available as tablets.'], 'extractive', [],
      'The passage says nothing about alcohol.', (s) => s.nothing),
  ],
}
export default tutorial
