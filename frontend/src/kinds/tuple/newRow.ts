/** The PICO tuple in the row of a new cluster. */

import { ORDER, ELEMENTS } from '../../pico/elements.ts'
import type { NewRow } from '../columns.ts'
import { standsForOf, toValue } from './state.ts'

const ALSO = { p: ['participants', 'patients'], i: [], c: ['comparison', 'control'], o: [] }

export const newRow: NewRow = {
  before: true,
  property: 'tuple',
  fields: ORDER.map((element) => ({ key: element, title: ELEMENTS[element], also: ALSO[element] })),
  read: ({ p = '', i = '', c = '', o = '' }) => {
    if (![p, i, c, o].some((text) => text.trim())) return null
    const means = standsForOf(c)
    return toValue({ p, i, c: means === undefined ? c : '', o, standsFor: means ?? '' })
  },
  another: 'Another PICO tuple needs another cluster: start with its target, in a row without a study.',
}
