import { describe, expect, it } from 'vitest'
import type { Claim, Cluster } from '../../kinds/columns.ts'
import { loadColumns } from '../../kinds/index.ts'
import discourseColumns from '../../kinds/discourse/columns.ts'
import labelColumns from '../../kinds/label/columns.ts'
import type { LabelSaid } from '../../kinds/label/typed.ts'
import tupleColumns from '../../kinds/tuple/columns.ts'
import { basisOf, begin, changesOf, columnsOf, follow, refusals, type Row } from './rows.ts'

const state = { shown: 1, seen: 7, decided_by: null, decided_at: null, is_stale: false }
const claim = (position: number, text: string, polarity: 'positive' | null = null): Claim => ({
  id: position, unit: 100 + position, position, study: position ? { id: 1, pmid: '7' } : null, text, removable: false, others: [],
  label: {
    ...state, polarity: polarity && { value: polarity, origin: 'imported' }, polarity_cue: null,
    modality: polarity && { value: 'strong', origin: 'imported' }, modality_cue: null,
  },
})
const TARGET = 'Nepralin improves the score.'
const cluster: Cluster = {
  id: 1, unit: 99, key: '1_0', unit_name: 'PMID 1, conclusion 1', sentence: null, propositions: [claim(0, TARGET), claim(1, 'It fell. It fell again.', 'positive')], missing: [],
  tuple: { ...state, elements: [{ element: 'i', form: 'explicit', text: 'nepralin', stands_for: '', fragments: [] }], origin: 'imported' },
  relation: { ...state, relation: null, suggested: null }, others: [],
}
const { ofClaims, ofClusters } = await loadColumns()
const columns = columnsOf(ofClaims)
const put = (row: Row<Claim>, column: string, text: string): Row<Claim> => {
  const is = columns.find((c) => c.key === column)!.put!(row, text)
  if (typeof is === 'string') throw new Error(is)
  return is
}
const label = (row: Row<Claim>) => row.said.label as LabelSaid

describe('the cells of a label', () => {
  const row = begin(claim(1, 'It fell. It fell again.'), ofClaims)

  it('keep the rule of the label: no evidence is n/a, and back', () => {
    const none = put(put(row, 'polarity', 'positive'), 'modality', 'no evidence')
    expect(label(none)).toMatchObject({ polarity: 'n/a', modality: 'no evidence' })
    expect(label(put(none, 'polarity', 'neg'))).toMatchObject({ polarity: 'negative', modality: '' })
    expect(label(put(none, 'polarity', ''))).toMatchObject({ polarity: '', modality: '' })
    expect(() => put(none, 'polarity_cue', 'fell')).toThrow(/has no polarity cue/)
  })

  it('find a cue in the words of their own text, piece by piece, or say that it is not there', () => {
    expect(label(put(row, 'polarity_cue', 'fell … fell again')).polarityCue).toEqual([{ start: 3, end: 7 }, { start: 12, end: 22 }])
    expect(() => put(row, 'polarity_cue', 'rose')).toThrow('“rose” is not in this text.')
    const second = { ...row, said: { label: { ...label(row), polarityCue: [{ start: 12, end: 16 }] } } }
    // The same words again: the place that was marked stays.
    expect(put(second, 'polarity_cue', 'fell')).toBe(second)
  })

  it('are sent as code points with their quotes, once they are whole', () => {
    const half = put(row, 'polarity', 'positive')
    expect(changesOf(half, ofClaims, 'here')).toMatchObject([{ lacks: 'modality', replaces: false, where: 'here, label' }])
    const whole = put(put(half, 'modality', 'strong'), 'polarity_cue', 'fell')
    const [change] = changesOf(whole, ofClaims, 'here')
    expect(change!.lacks).toBe('')
    expect(change!.value()).toEqual({
      polarity: 'positive', modality: 'strong', modality_cue: [], polarity_cue: [{ start: 3, end: 7, quote: 'fell' }],
    })
    expect(changesOf(put(put(whole, 'polarity_cue', ''), 'polarity', ''), ofClaims, 'here')[0]!.lacks).toBe('polarity')
    expect(changesOf(row, ofClaims, 'here')).toEqual([])
  })

  it('say that a value in force gives way, and what was shown of it', () => {
    const current = claim(1, 'It fell.', 'positive')
    expect(changesOf(put(begin(current, ofClaims), 'polarity', 'negative'), ofClaims, 'x')[0]!.replaces).toBe(true)
    expect(basisOf(current, ofClaims, 'label')).toEqual({ shown: 1, seen: 7 })
  })

  it('keep what is mine when the unit comes anew, but not on another text', () => {
    const mine = label(put(row, 'polarity', 'positive'))
    expect(label(follow(claim(1, 'It fell. It fell again.'), ofClaims, { label: mine })).polarity).toBe('positive')
    expect(label(follow(claim(1, 'Other.'), ofClaims, { label: mine })).polarity).toBe('')
  })
})

describe('the cells of a cluster', () => {
  it('say the form of an element, and what a blank comparator means', () => {
    const said = tupleColumns.begin(cluster)
    const c = tupleColumns.columns.find((k) => k.key === 'c')!
    const i = tupleColumns.columns.find((k) => k.key === 'i')!
    expect(i.hint!(said)).toMatch(/^explicit/)
    const placebo = c.put!(said, '= Placebo') as typeof said
    expect([placebo.c, placebo.standsFor, c.show(placebo)]).toEqual(['', 'placebo', '= placebo'])
    expect(c.put!(said, '= sugar')).toMatch(/= not stated/)
    expect(i.put!(said, '  ')).toMatch(/Only spaces/)
    expect(tupleColumns.value(placebo)).toMatchObject({ i: { text: 'nepralin' }, c: { text: '', stands_for: 'placebo' } })
  })

  it('suggest the relation by what is typed, and say what became of the suggestion', () => {
    const begun = discourseColumns.begin(cluster)
    const claims = (...polarities: string[]) => ['', ...polarities].map((polarity) => ({ label: { polarity } }))
    expect(discourseColumns.beside!(begun, claims('positive', '')).suggested).toBeNull()
    expect(discourseColumns.beside!(begun, claims('positive', 'n/a')).suggested).toBe('contradiction')
    const agree = discourseColumns.beside!(begun, claims('positive', 'positive'))
    expect(discourseColumns.columns[0]!.offer!(agree)).toBe('agreement')
    expect(discourseColumns.value({ ...agree, relation: 'agreement' })).toEqual({ relation: 'agreement', suggestion: 'accepted' })
    expect(discourseColumns.value({ ...agree, relation: 'contradiction' })).toMatchObject({ suggestion: 'edited' })
    expect(discourseColumns.value({ ...begun, relation: 'agreement' })).toEqual({ relation: 'agreement' })
  })

  it('name the change that the server refused', () => {
    const row = begin(cluster, ofClusters)
    const is = columnsOf(ofClusters)[0]!.put!(row, '[adults]') as typeof row
    const sent = changesOf(is, ofClusters, '1_0')
    expect(refusals([{ field: 'rows.0.value.p.text', message: 'Too long.' }, { field: 'reason', message: 'Say why.' }], sent)).toEqual({
      '99 tuple': { why: 'Too long.', path: 'rows.0.value.p.text' }, '': { why: 'Say why.', path: 'reason' },
    })
    expect(labelColumns.columnOf('value.polarity_cue.0.start')).toBe('polarity_cue')
  })
})
