import { describe, expect, it } from 'vitest'
import { loadColumns } from '../../kinds/index.ts'
import { NewRows, type NewCluster, type Typed } from './newRows.ts'

const columns = await loadColumns()
const clusters = new NewRows(columns, false)
const inputs = new NewRows(columns, true)
const clustersOf = (typed: Typed[]) => clusters.make(typed)
const row = (of: Typed): Typed => ({ ...clusters.blank(), ...of })
const target = row({ i: 'bevacizumab', o: 'visual acuity', text: 'No difference in visual acuity.' })
const input = row({ pmid: '123', text: 'Acuity was better.', polarity: 'positive', polarity_cue: 'better', modality: 'strong' })

describe('rows to become clusters', () => {
  it('a row without a study begins a cluster, those with one are its inputs', () => {
    const made = clustersOf([target, input, row({ pmid: '9', text: 'B.' }), clusters.blank(), row({ ...target, o: 'safety' })])
    expect(made.faults).toEqual([])
    const rows = made.rows as NewCluster[]
    expect(rows.map((c) => c.inputs!.length)).toEqual([2, 0])
    expect(made.inputs).toBe(2)
    expect(rows[0]!.inputs![0]!.label).toEqual({
      polarity: 'positive', modality: 'strong', modality_cue: [], polarity_cue: [{ start: 11, end: 17, quote: 'better' }],
    })
    expect(rows[0]!.tuple!.c).toEqual({ text: '', fragments: [], stands_for: '' })
    expect(rows[1]!.relation).toBeNull()
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
    expect(inputs.make([row({ pmid: '8', text: 'A.', modality: 'weak' })]).faults).toMatchObject([{ field: 'polarity' }])
    const contradicts = inputs.make([row({ pmid: '8', text: 'A.', polarity: 'positive', modality: 'no evidence' })])
    expect(contradicts.faults).toMatchObject([{ row: 0, field: 'polarity' }])
    expect(inputs.make([row({ pmid: '8', text: 'A.', modality: 'no evidence' })]).rows[0]!.label).toMatchObject({ polarity: 'n/a' })
  })

  it('have their columns in the order in which they are pasted', () => {
    expect(clusters.fields.map((f) => f.key)).toEqual(
      ['p', 'i', 'c', 'o', 'pmid', 'text', 'polarity', 'polarity_cue', 'modality', 'modality_cue', 'relation'],
    )
    expect(inputs.fields.map((f) => f.key)).toEqual(['pmid', 'text', 'polarity', 'polarity_cue', 'modality', 'modality_cue'])
  })

  it('keep the sentence that they were begun from, and read a relation by how it begins', () => {
    const made = clustersOf([{ ...target, sentence: 9, relation: 'agr' }, row({ text: 'B.', relation: 'maybe' })])
    expect(made.rows[0]).toMatchObject({ sentence: 9, relation: 'agreement' })
    expect(made.faults).toMatchObject([{ row: 1, field: 'relation' }])
  })

  it('lets a flat sheet repeat the tuple', () => {
    expect(clustersOf([target, row({ ...input, i: 'bevacizumab', o: 'visual acuity' })]).faults).toEqual([])
  })

  it('finds the row of what the server refuses', () => {
    const made = clustersOf([target, clusters.blank(), input, target, input])
    expect(['rows.0.text', 'rows.0.inputs.0.pmid', 'rows.1.inputs.0.label.polarity'].map(made.rowOf)).toEqual([0, 2, 4])
    expect(['rows.0.text', 'rows.0.inputs.0.pmid', 'rows.0.tuple.c.text', 'rows.0.label.polarity_cue.0.start'].map((path) => clusters.fieldAt(path))).toEqual(
      ['text', 'pmid', 'c', 'polarity_cue'],
    )
  })

  it('puts columns in order by their headings, and says which it does not know', () => {
    const pasted = [['Text', 'Study PMID', 'Who', 'polarity'], ['A.', '7', 'me', 'positive'], ['B.']]
    expect(inputs.byHeading(pasted)).toEqual({
      cells: [['7', 'A.', 'positive', '', '', ''], ['', 'B.', '', '', '', '']], unknown: ['Who'],
    })
    expect(clusters.byHeading([['7', 'A text.'], ['8', 'Another.']])).toBeNull()
  })
})
