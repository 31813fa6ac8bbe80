/** Relations in force, as the corpus shows them. */

import type { InForce } from '../kind.ts'
import discourse from './index.ts'
import InForceView from './InForce.svelte'
import { RELATIONS } from './state.ts'

const inForce: InForce = {
  of: 'clusters',
  order: 5,
  view: InForceView,
  isDecided: (cluster) => cluster.relation !== null,
  filters: [{ name: 'relation', title: 'Relation', values: RELATIONS.map((r) => r.value) }],
  inRow: { head: (row) => (row.relation ? discourse.said('relation', row.relation.value) : '') },
}
export default inForce
