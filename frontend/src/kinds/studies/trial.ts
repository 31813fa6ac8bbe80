import { nowhere, type Trial, type TrialUnit } from '../trial.ts'
import type { Card, Missing, Value } from './state.ts'

/** Written by us, of a drug that does not exist; so are the numbers. */
function unit(n: number, title: string, cited: readonly (readonly [pmid: string, text: string, listed: Missing | null])[], without: number, why: string): TrialUnit {
  const listed = cited.flatMap(([pmid, , said]) => (said === null ? [] : [{ pmid, missing: said }]))
  const expected: Value = { included_studies: { listed, without_pmid: without } }
  const names = (value: Value) => value.included_studies.listed.map((one) => one.pmid).sort().join()
  return {
    card: {
      ...nowhere(n), kind: 'studies', pmid: `try-${n}`, title, abstract: '', year: 2020, full_text: null,
      cited: cited.map(([pmid, text]) => ({ pmid, text, marked: false })),
    } satisfies Card,
    expected,
    why,
    same: (value) => 'included_studies' in value && names(value) === names(expected) && value.included_studies.without_pmid === without,
  }
}

const trial: Trial = {
  brief: [
    'List the primary studies whose results the review puts together: look for its table of included studies.',
    'Paste their PMIDs, or go through the references with the arrow keys and list one with Space.',
    'A study that is not in PubMed is counted with +; one whose abstract cannot be had is listed with the reason.',
  ],
  units: [
    unit(1, 'Nepralin for migraine: its table of included studies names Adams 2010 and Brown 2012', [
      ['1001', 'Adams 2010: nepralin against placebo in adults with migraine', ''],
      ['1002', 'Brown 2012: a randomised trial of nepralin', ''],
      ['1003', 'Clark 2008: how to judge the risk of bias', null],
    ], 0, 'A paper on methods is cited, and no study of the review.'),
    unit(2, 'Nepralin for sciatica: included are Dunn 1968 (no abstract: it is too old) and a report that PubMed does not have', [
      ['1004', 'Dunn 1968: nepralin in sciatica', 'old'],
      ['1005', 'Evans 2001: nepralin in sciatica (excluded: no control group)', null],
    ], 1, 'What cannot be had is listed all the same, with the reason; the report is counted.'),
    unit(3, 'Nepralin for gout: no trial met the criteria; Frank 2019 is ongoing', [['1006', 'Frank 2019: protocol of a trial of nepralin', null]], 0, 'An ongoing trial is not included: the list is empty. Enter twice says so.'),
  ],
}
export default trial
