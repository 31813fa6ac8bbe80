import { nowhere, type Trial, type TrialUnit } from '../trial.ts'
import type { Screened, Value } from './state.ts'

const CRITERIA = 'Systematic reviews of what nepralin does for adults with migraine.'

/** Written by us, of a drug that does not exist. */
function unit(n: number, title: string, abstract: string, screening: Screened, why: string): TrialUnit {
  return {
    card: { ...nowhere(n), kind: 'screen', pmid: `try-${n}`, title, abstract, criteria: CRITERIA, sections: [], topic: 'migraine', year: 2024, publication_types: [], retracted: false },
    expected: { screening },
    why,
    same: (value) => (value as Value).screening === screening,
  }
}

const trial: Trial = {
  brief: [
    'Include a review that meets every criterion, as far as its abstract tells. A doubt is no exclusion.',
    'The key of a reason is the exclusion. Where several hold, the first of the list counts.',
  ],
  units: [
    unit(1, 'Nepralin for migraine in adults: a systematic review',
      'We searched four data bases for randomised trials of nepralin against placebo. Nine trials with 1,204 adults were included. There is no evidence that nepralin reduces attacks.',
      'include', 'A review that found nothing meets the criteria like any other.'),
    unit(2, 'Migraine: what is new?',
      'The author tells of thirty years in a headache clinic and comments on recent drugs, nepralin among them.',
      'not systematic', 'The right topic, but nobody searched for trials.'),
    unit(3, 'Nepralin for sciatica: a systematic review and meta-analysis',
      'Six randomised trials were included. Nepralin reduced leg pain at twelve weeks.',
      'not relevant', 'A systematic review, but of another condition.'),
  ],
}
export default trial
