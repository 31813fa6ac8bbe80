import { describe, expect, it } from 'vitest'
import { blank, byHeading, clustersOf, fieldAt, FIELDS, inputsOf, INPUT_FIELDS, type Typed } from './staging.ts'

const row = (of: Partial<Typed>): Typed => ({ ...blank(), ...of })
const target = row({ i: 'bevacizumab', o: 'visual acuity', text: 'No difference in visual acuity.' })
const input = row({ pmid: '123', text: 'Acuity was better.', polarity: 'positive', polarity_cue: 'better', modality: 'strong' })

describe('rows to become clusters', () => {
  it('a row without a study begins a cluster, those with one are its inputs', () => {
    const made = clustersOf([target, input, row({ pmid: '9', text: 'B.' }), blank(), row({ ...target, o: 'safety' })])
    expect(made.faults).toEqual([])
    expect(made.rows.map((c) => c.inputs!.length)).toEqual([2, 0])
    expect(made.inputs).toBe(2)
    expect(made.rows[0]!.inputs![0]!.label).toEqual({
      polarity: 'positive', modality: 'strong', modality_cue: [], polarity_cue: [{ start: 11, end: 17, quote: 'better' }],
    })
    expect(made.rows[0]!.tuple!.c).toEqual({ text: '', stands_for: '' })
  })

  it('names every fault by row and column', () => {
    const made = clustersOf([
      input,
      row({ text: '', i: 'x' }),
      row({ pmid: 'PMID 7', text: 'A.', polarity: 'better' }),
      row({ pmid: '8', text: 'A.', modality: 'weak', modality_cue: 'perhaps', i: 'y' }),
    ])
    expect(made.faults.map((f) => [f.row, f.field])).toEqual([
      [0, 'pmid'], [1, 'text'], [2, 'pmid'], [2, 'polarity'], [3, 'i'], [3, 'modality_cue'],
    ])
  })

  it('wants a label whole, and no evidence with n/a', () => {
    expect(inputsOf([row({ pmid: '8', text: 'A.', modality: 'weak' })]).faults).toMatchObject([{ field: 'polarity' }])
    const contradicts = inputsOf([row({ pmid: '8', text: 'A.', polarity: 'positive', modality: 'no evidence' })])
    expect(contradicts.faults).toMatchObject([{ row: 0, field: 'polarity' }])
    expect(inputsOf([row({ pmid: '8', text: 'A.', modality: 'no evidence' })]).rows[0]!.label).toMatchObject({ polarity: 'n/a' })
  })

  it('lets a flat sheet repeat the tuple', () => {
    expect(clustersOf([target, row({ ...input, i: 'bevacizumab', o: 'visual acuity' })]).faults).toEqual([])
  })

  it('finds the row of what the server refuses', () => {
    const made = clustersOf([target, blank(), input, target, input])
    expect(['rows.0.text', 'rows.0.inputs.0.pmid', 'rows.1.inputs.0.label.polarity'].map(made.rowOf)).toEqual([0, 2, 4])
    expect(['rows.0.text', 'rows.0.inputs.0.pmid', 'rows.0.tuple.c.text', 'rows.0.label.polarity_cue.0.start'].map(fieldAt)).toEqual(
      ['text', 'pmid', 'c', 'polarity_cue'],
    )
  })

  it('puts columns in order by their headings, and says which it does not know', () => {
    const pasted = [['Text', 'Study PMID', 'Who', 'polarity'], ['A.', '7', 'me', 'positive'], ['B.']]
    expect(byHeading(pasted, INPUT_FIELDS)).toEqual({
      cells: [['7', 'A.', 'positive', '', '', ''], ['', 'B.', '', '', '', '']], unknown: ['Who'],
    })
    expect(byHeading([['7', 'A text.'], ['8', 'Another.']], FIELDS)).toBeNull()
  })
})
