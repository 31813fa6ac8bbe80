/** The tuple in a row that is to become a cluster. */

import { ORDER, SLOTS } from '../../pico/slots.ts'
import type { NewRow } from '../columns.ts'
import { meant, toValue } from './state.ts'

const ALSO = { p: ['participants', 'patients'], i: [], c: ['comparison', 'control'], o: [] }

export const newRow: NewRow = {
  before: true,
  property: 'tuple',
  fields: ORDER.map((slot) => ({ key: slot, title: SLOTS[slot], also: ALSO[slot] })),
  read: ({ p = '', i = '', c = '', o = '' }) => {
    if (![p, i, c, o].some((text) => text.trim())) return null
    const means = meant(c)
    return toValue({ p, i, c: means === undefined ? c : '', o, standsFor: means ?? '' })
  },
  another: 'Another tuple is another cluster: its target comes first, in a row without a study.',
}
