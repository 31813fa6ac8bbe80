import { nowhere, type Tutorial, type TutorialUnit } from '../tutorial.ts'
import type { Class, Mark } from './choices.ts'
import type { Card, Value } from './state.ts'

/** Invented example about a fictitious drug. */
function unit(n: number, title: string, task: Card['task'], said: readonly (readonly [text: string, said: Class | Mark])[], why: string): TutorialUnit {
  const sentences = said.map(([text], i) => ({ number: i + 1, text, section: '' }))
  const marks = said.map(([, mark], i) => ({ number: i + 1, said: mark }))
  const expected: Value =
    task === 'sentence_classes'
      ? { sentence_classes: marks as { number: number; said: Class }[] }
      : { evidence_sentences: { dropped: '', sentences: marks as { number: number; said: Mark }[] } }
  return {
    card: { ...nowhere(n), kind: 'sentences', pmid: `try-${n}`, title, task, sentences },
    expected,
    why,
    same: (value) => JSON.stringify(value) === JSON.stringify(expected),
  }
}

const tutorial: Tutorial = {
  brief: [
    'A round asks either which sentences of an abstract contain evidence, or the class of each sentence.',
    'A sentence contains evidence if it concludes how an intervention affects an outcome. Pick it, or refuse it with the key of a reason.',
    'In class rounds, one key classifies one sentence, and Enter completes the abstract.',
  ],
  units: [
    unit(1, 'Nepralin for migraine in adults', 'evidence_sentences', [
      ['Nine trials with 1,204 adults were included.', 'neither'],
      ['Six of the nine trials found an effect.', 'needs aggregation'],
      ['Nepralin reduced the days with migraine compared with placebo.', 'picked'],
    ], 'Only the last sentence is a conclusion that single studies can support; the one before holds for all studies together only.'),
    unit(2, 'Nepralin for sciatica', 'evidence_sentences', [
      ['Pain fell by 1.2 points in one trial, by 0.8 in another and by 0.1 in a third.', 'table data'],
      ['There is no evidence that nepralin prevents relapse.', 'picked'],
    ], '“No evidence” is a conclusion too; numbers by trial are table data.'),
    unit(3, 'Nepralin for gout', 'sentence_classes', [
      ['We assessed whether nepralin prevents gout.', 'GOAL'],
      ['Attacks were fewer by a third (risk ratio 0.67; 4 trials).', 'DETAILED_FINDINGS'],
      ['Nepralin prevents attacks of gout.', 'EFFECT'],
    ], 'A result with numbers is a detailed finding; the conclusion in words is the effect.'),
  ],
}
export default tutorial
