import { nowhere, type Trial, type TrialUnit } from '../trial.ts'
import type { Class, Mark } from './choices.ts'
import type { Card, Value } from './state.ts'

/** Written by us, of a drug that does not exist. */
function unit(n: number, title: string, task: Card['task'], said: readonly (readonly [text: string, said: Class | Mark])[], why: string): TrialUnit {
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

const trial: Trial = {
  brief: [
    'A round asks one of two things of the sentences of an abstract: which bear evidence, or what each of them does.',
    'A sentence bears evidence when it says, as a conclusion, what an intervention does to an outcome. Pick it, or refuse it by the key of the reason.',
    'Where a class is asked for, one key is one sentence, and Enter ends the abstract.',
  ],
  units: [
    unit(1, 'Nepralin for migraine in adults', 'evidence_sentences', [
      ['Nine trials with 1,204 adults were included.', 'neither'],
      ['Six of the nine trials found an effect.', 'needs aggregation'],
      ['Nepralin reduced the days with migraine compared with placebo.', 'picked'],
    ], 'Only the last sentence is a conclusion that studies can support; the one before is true of all studies together, and of none.'),
    unit(2, 'Nepralin for sciatica', 'evidence_sentences', [
      ['Pain fell by 1.2 points in one trial, by 0.8 in another and by 0.1 in a third.', 'table data'],
      ['There is no evidence that nepralin prevents relapse.', 'picked'],
    ], 'That nothing is known of an outcome is a conclusion like any other; figures trial by trial belong in a table.'),
    unit(3, 'Nepralin for gout', 'sentence_classes', [
      ['We assessed whether nepralin prevents gout.', 'GOAL'],
      ['Attacks were fewer by a third (risk ratio 0.67; 4 trials).', 'DETAILED_FINDINGS'],
      ['Nepralin prevents attacks of gout.', 'EFFECT'],
    ], 'A result with its figures is a detailed finding; the answer in words is the effect.'),
  ],
}
export default trial
