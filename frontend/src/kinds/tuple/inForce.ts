/** Tuples in force, as the corpus shows them. */

import { inShort, slotMarks, underlined } from '../../pico/slots.ts'
import type { InForce } from '../kind.ts'
import InForceView from './InForce.svelte'

const inForce: InForce = {
  of: 'clusters',
  order: 10,
  view: InForceView,
  marks: (cluster, proposition) => (proposition.role === 'target' ? underlined(slotMarks(proposition.text, cluster.pico)) : []),
  isDecided: (cluster) => cluster.pico.some((slot) => slot.text),
  filters: [],
  inRow: { foot: (row) => inShort(row.pico) },
}
export default inForce
