import { expect, it } from 'vitest'
import type { Claim, Cluster } from '../../kinds/columns.ts'
import { loadColumns } from '../../kinds/index.ts'
import { Clusters, type ClusterState, type Edits } from './clusters.ts'

const clusters = new Clusters(await loadColumns())
const cell = { shown: 1, seen: 7, decided_by: null, decided_at: null, is_stale: false }
const claim = (position: number, polarity: 'positive' | 'negative' | null, is_stale = false): Claim => ({
  id: position, unit: 100 + position, position, study: position ? { id: 1, pmid: '7' } : null, text: 'It fell.', removable: false, others: [],
  label: {
    ...cell, is_stale, polarity: polarity && { value: polarity, origin: 'unanimous' }, polarity_cue: null,
    modality: polarity && { value: 'strong', origin: 'unanimous' }, modality_cue: null,
  },
})
const cluster = (...claims: Claim[]): Cluster => ({
  id: 1, unit: 99, key: '1_0', unit_name: 'PMID 1, conclusion 1', sentence: null, propositions: claims, missing: [],
  tuple: { ...cell, elements: [], origin: null }, relation: { ...cell, relation: null, suggested: null }, others: [],
})
const typed = (state: ClusterState, row: number, column: string, text: string): ClusterState => {
  const rows = state.claims.rows.map((r, i) => (i === row ? clusters.claimFacts.columns.find((c) => c.key === column)!.put!(r, text) : r))
  return clusters.beside({ ...state, claims: { ...state.claims, rows: rows as typeof state.claims.rows } })
}
const from = (of: Claim) => clusters.claimFacts.columns.at(-1)!.show({ unit: of, said: {} })

it('begins with what is in force, and says what is changed of it', () => {
  const state = clusters.renewed(undefined, cluster(claim(0, null), claim(1, 'positive')), {})
  expect(clusters.changes(state)).toEqual([])
  expect(clusters.changes(typed(state, 1, 'polarity', 'negative'))).toMatchObject([{ where: 'PMID 1, conclusion 1, input 1, label', replaces: true, lacks: '' }])
})

it('has the cells of a cluster follow what its propositions say, saved or not', () => {
  const state = clusters.renewed(undefined, cluster(claim(0, null), claim(1, 'positive'), claim(2, 'negative')), {})
  expect(state.head.rows[0]!.said.discourse).toMatchObject({ suggested: 'contradiction' })
  expect(typed(state, 2, 'polarity', 'positive').head.rows[0]!.said.discourse).toMatchObject({ suggested: 'agreement' })
})

it('keeps what is not saved when a cluster comes anew, and shows both versions where somebody else changed the same', () => {
  const begun = typed(clusters.renewed(undefined, cluster(claim(0, null), claim(1, 'positive')), {}), 1, 'modality', 'weak')
  const [change] = clusters.changes(begun)
  const edits: Edits = { [change!.key]: { said: change!.said, basis: clusters.currentBasis(begun, change!).basis } }
  const same = clusters.renewed(begun, cluster(claim(0, null), claim(1, 'positive')), edits)
  expect(clusters.changes(same)).toHaveLength(1)
  expect(clusters.conflicts(same, edits)).toEqual([])
  const theirs = claim(1, 'negative')
  const anew = clusters.renewed(begun, cluster(claim(0, null), { ...theirs, label: { ...theirs.label, seen: 8 } }), edits)
  expect(clusters.conflicts(anew, edits)).toMatchObject([{ mine: '+ positive, weak', theirs: '− negative, strong' }])
})

it('says where a value comes from, and that it is to be looked at again', () => {
  expect(from(claim(1, null))).toBe('')
  expect(from(claim(1, 'positive'))).toBe('unanimous')
  expect(from(claim(1, 'positive', true))).toBe('unanimous, needs review')
  expect(from(claim(1, null, true))).toBe('needs review')
})
