/** The relation in the row of a new cluster. */

import type { NewRow } from '../columns.ts'
import { noRelation, relationOf } from './state.ts'

export const newRow: NewRow = {
  before: false,
  property: 'relation',
  fields: [{ key: 'relation', title: 'Relation', also: ['discourse'] }],
  read: ({ relation = '' }, fault) => {
    const found = relationOf(relation)
    if (found === undefined) fault('relation', noRelation(relation))
    return found ?? null
  },
}
