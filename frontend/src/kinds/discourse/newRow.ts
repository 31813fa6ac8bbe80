/** The relation in a row that is to become a cluster. */

import type { NewRow } from '../columns.ts'
import { noRelation, typed } from './state.ts'

export const newRow: NewRow = {
  before: false,
  property: 'relation',
  fields: [{ key: 'relation', title: 'Relation', also: ['discourse'] }],
  read: ({ relation = '' }, fault) => {
    const found = typed(relation)
    if (found === undefined) fault('relation', noRelation(relation))
    return found ?? null
  },
}
