import { nowhere, type Tutorial, type TutorialUnit } from '../tutorial.ts'
import type { Screened, Value } from './state.ts'

const CRITERIA = 'Systematic reviews of what nepralin does for adults with migraine.'

/** Invented example about a fictitious drug. */
function unit(n: number, title: string, abstract: string, screening: Screened, why: string): TutorialUnit {
  return {
    card: { ...nowhere(n), kind: 'screen', pmid: `try-${n}`, title, abstract, criteria: CRITERIA, sections: [], topic: 'migraine', year: 2024, publication_types: [], retracted: false, retraction_notice: '' },
    expected: { screening },
    why,
    same: (value) => (value as Value).screening === screening,
  }
}

const tutorial: Tutorial = {
  brief: [
    'Include a review that meets every criterion, judged by its abstract. In doubt, include.',
    'The key of a reason excludes the review. If several reasons apply, choose the first in the list.',
  ],
  units: [
    unit(1, 'Nepralin for migraine in adults: a systematic review',
      'We searched four data bases for randomised trials of nepralin against placebo. Nine trials with 1,204 adults were included. There is no evidence that nepralin reduces attacks.',
      'include', 'A review without a finding can meet the criteria too.'),
    unit(2, 'Migraine: what is new?',
      'The author tells of thirty years in a headache clinic and comments on recent drugs, nepralin among them.',
      'not systematic', 'The right topic, but no systematic search.'),
    unit(3, 'Nepralin for sciatica: a systematic review and meta-analysis',
      'Six randomised trials were included. Nepralin reduced leg pain at twelve weeks.',
      'not relevant', 'A systematic review, but of another condition.'),
  ],
}
export default tutorial
