import { nowhere, type Tutorial, type TutorialUnit } from '../tutorial.ts'
import type { Card, Missing, Value } from './state.ts'

/** Invented example about a fictitious drug, with invented PMIDs. */
function unit(n: number, title: string, cited: readonly (readonly [pmid: string, text: string, listed: Missing | null])[], without: number, why: string): TutorialUnit {
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

const tutorial: Tutorial = {
  brief: [
    'List the primary studies whose results the review combines. See its table of included studies.',
    'Paste their PMIDs, or move through the references with the arrow keys and add with Space.',
    'Count studies not in PubMed with +. List studies without an available abstract with the reason.',
  ],
  units: [
    unit(1, 'Nepralin for migraine: its table of included studies names Adams 2010 and Brown 2012', [
      ['1001', 'Adams 2010: nepralin against placebo in adults with migraine', ''],
      ['1002', 'Brown 2012: a randomised trial of nepralin', ''],
      ['1003', 'Clark 2008: how to judge the risk of bias', null],
    ], 0, 'The cited methods paper is not an included study.'),
    unit(2, 'Nepralin for sciatica: included are Dunn 1968 (no abstract: it is too old) and a report that PubMed does not have', [
      ['1004', 'Dunn 1968: nepralin in sciatica', 'old'],
      ['1005', 'Evans 2001: nepralin in sciatica (excluded: no control group)', null],
    ], 1, 'A study without an abstract is listed with the reason; the report is counted.'),
    unit(3, 'Nepralin for gout: no trial met the criteria; Frank 2019 is ongoing', [['1006', 'Frank 2019: protocol of a trial of nepralin', null]], 0, 'An ongoing trial is not included, so the list is empty: press Enter twice.'),
  ],
}
export default tutorial
