import { ELEMENTS } from '../../pico/elements.ts'
import type { Binding } from '../../work/keymap.ts'
import { selectKeys } from '../selecting.ts'
import { LANES } from '../lanes.ts'

/** Keys of marking. Those of all tasks (Enter, Z, K, !, M, G, ?) belong to the Work page. */
export const bindings: readonly Binding[] = [
  ...LANES.map((element) => ({
    keys: [element], command: `mark ${element}`, says: `${ELEMENTS[element]}: mark the selection, or change the chosen span`, shown: element.toUpperCase(),
  })),
  { keys: ['e'], command: 'edge', says: 'Shift with an arrow moves the end, the start, or the whole span', shown: 'E' },
  { keys: ['Backspace', 'Delete'], command: 'remove', says: 'Delete the span', shown: 'Backspace' },
  { keys: ['n'], command: 'suggestion', says: 'Next suggestion; Shift: previous', shown: 'N', repeats: true },
  { keys: ['a'], command: 'accept', says: 'Accept, reject the suggestion', shown: 'A R' },
  { keys: ['r'], command: 'reject', says: '', shown: 'R' },
  ...LANES.map((element, n) => ({
    keys: [String(n + 1)], command: `lane ${element}`, says: n ? '' : 'Show or hide a lane', shown: n ? String(n + 1) : '1 2 3',
  })),
  ...selectKeys('span').filter((binding) => binding.command !== 'keep'),
]
