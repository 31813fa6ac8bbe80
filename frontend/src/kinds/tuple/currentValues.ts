/** Current PICO tuples in the corpus. */

import { inShort, elementMarks, underlined } from '../../pico/elements.ts'
import type { CurrentValues } from '../kind.ts'
import CurrentValue from './CurrentValue.svelte'

const currentValues: CurrentValues = {
  of: 'clusters',
  order: 10,
  view: CurrentValue,
  marks: (cluster, proposition) => (proposition.role === 'target' ? underlined(elementMarks(proposition.text, cluster.pico)) : []),
  isDecided: (cluster) => cluster.pico.some((element) => element.text),
  filters: [],
  inRow: { foot: (row) => inShort(row.pico) },
}
export default currentValues
