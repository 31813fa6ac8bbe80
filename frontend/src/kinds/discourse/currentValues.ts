/** Current relations in the corpus. */

import type { CurrentValues } from '../kind.ts'
import discourse from './index.ts'
import CurrentValue from './CurrentValue.svelte'
import { RELATIONS } from './state.ts'

const currentValues: CurrentValues = {
  of: 'clusters',
  order: 5,
  view: CurrentValue,
  isDecided: (cluster) => cluster.relation !== null,
  filters: [{ name: 'relation', title: 'Relation', values: RELATIONS.map((r) => r.value) }],
  inRow: { head: (row) => (row.relation ? discourse.said('relation', row.relation.value) : '') },
}
export default currentValues
