/** The relation of a cluster on the curate page: one cell, with a suggestion from the polarities. */

import type { Cluster, KindColumns } from '../columns.ts'
import { newRow } from './newRow.ts'
import { noRelation, RELATIONS, toValue, relationOf, type Relation } from './state.ts'

export interface DiscourseSaid {
  readonly relation: Relation | ''
  readonly suggested: Relation | null
  readonly inputs: number
}

function hint(said: DiscourseSaid): string {
  if (!said.inputs) return 'no inputs yet'
  if (!said.suggested) return said.relation ? '' : 'suggested when all inputs have a polarity'
  if (said.suggested === said.relation) return 'equals the suggestion'
  return said.relation ? `suggested: ${said.suggested}` : `suggested: ${said.suggested}. Enter accepts`
}

/** Suggest agreement if all input polarities are equal, like the server (`suggested` in measures/consistency), but for unsaved values too. */
function suggested(claims: readonly Readonly<Record<string, object>>[]): Relation | null {
  const polarities = claims.slice(1).map((said) => (said.label as { polarity: string }).polarity)
  if (!polarities.length || polarities.includes('')) return null
  return new Set(polarities).size === 1 ? 'agreement' : 'contradiction'
}

const columns: KindColumns<Cluster, DiscourseSaid> = {
  kind: 'discourse',
  of: 'clusters',
  order: 30,
  columns: [{
    key: 'relation',
    title: 'Relation',
    wide: 2,
    keys: Object.fromEntries(RELATIONS.map((r) => [r.key.toLowerCase(), r.value])),
    show: (said) => said.relation,
    put: (said, text) => {
      const relation = relationOf(text)
      return relation === undefined ? noRelation(text) : { ...said, relation: relation ?? '' }
    },
    offer: (said) => said.suggested ?? '',
    hint,
  }],
  begin: (cluster) => ({
    relation: cluster.relation.relation?.value ?? '',
    suggested: cluster.relation.suggested,
    inputs: cluster.propositions.length - 1,
  }),
  follow: (said, cluster) => ({ ...said, inputs: cluster.propositions.length - 1 }),
  beside: (said, claims) => {
    const now = suggested(claims)
    return now === said.suggested ? said : { ...said, suggested: now }
  },
  state: (cluster) => cluster.relation,
  hasCurrentValue: (cluster) => cluster.relation.relation !== null,
  origin: (cluster) => cluster.relation.relation?.origin ?? null,
  same: (a, b) => a.relation === b.relation,
  lacks: (said) => (said.relation ? '' : 'a relation'),
  value: ({ relation, suggested }) => (relation ? toValue(suggested, relation) : null),
  words: (said) => said.relation || 'nothing',
  columnOf: () => 'relation',
  newRow,
}
export default columns
