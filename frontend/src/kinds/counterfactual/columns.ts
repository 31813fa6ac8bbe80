/** Counterfactuals on the curate page: one cell, which opens the editor with the server's drafts. */

import { api, data } from '../../api/client.ts'
import type { Claim, KindColumns } from '../columns.ts'
import { inWords } from './inWords.ts'
import { KINDS, type Card, type Field, type Value } from './words.ts'

interface Said {
  /** 0 is the target; inputs have no counterfactuals. */
  readonly position: number
  readonly value: Value | null
}
const NOTHING = { shown: 0, seen: 0, is_stale: false, decided_by: null, value: null, origin: null }
const FIELDS = Object.keys(KINDS) as Field[]

const cell = (claim: Claim) => claim.others.find((other) => other.kind === 'counterfactual') ?? NOTHING
const currentValue = (claim: Claim): Said => ({ position: claim.position, value: cell(claim).value as Value | null })

const columns: KindColumns<Claim, Said> = {
  kind: 'counterfactual',
  of: 'propositions',
  order: 40,
  columns: [{ key: 'counterfactuals', title: 'Counterfactuals', wide: '7.75rem', opens: true, show: (said) => inWords(said.value) }],
  begin: currentValue,
  follow: (said) => said,
  state: cell,
  hasCurrentValue: (claim) => cell(claim).value !== null,
  origin: (claim) => cell(claim).origin,
  same: (a, b) => FIELDS.every((f) => a.value?.[f]?.text === b.value?.[f]?.text && a.value?.[f]?.reason === b.value?.[f]?.reason),
  lacks: ({ value }) => (FIELDS.every((f) => value?.[f]) ? '' : 'a text or a reason for each kind'),
  value: (said) => said.value,
  words: (said) => inWords(said.value) || 'nothing',
  columnOf: () => 'counterfactuals',
  editor: {
    of: (claim) => claim.position === 0,
    card: async (claim, _, said) => {
      const path = { unit_id: claim.unit, kind: 'counterfactual' }
      return { ...(await data(api.GET('/api/v1/units/{unit_id}/cards/{kind}/', { params: { path } }))), value: said.value } as Card
    },
    take: (said, value) => ({ ...said, value: value as Value }),
  },
}
export default columns
