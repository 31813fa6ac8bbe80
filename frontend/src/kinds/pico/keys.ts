import { ORDER, SLOTS } from '../../pico/slots.ts'
import type { Binding } from '../../work/keymap.ts'
import { selectKeys } from '../selecting.ts'
import { BLANKS } from './state.ts'

/** The keys of splitting. Those of all tasks (Enter, Z, K, !, M, G, ?) are the Work page's: C is the comparator. */
export const bindings: readonly Binding[] = [
  ...ORDER.map((slot) => ({
    keys: [slot], command: `slot ${slot}`, shown: slot.toUpperCase(),
    says: `${SLOTS[slot]}: fill it with the selection, or without one type; Shift adds a part`,
  })),
  ...BLANKS.map(({ value, key }) => ({ keys: [key], command: `stands for ${value}`, says: `Blank comparator: ${value}`, shown: key })),
  { keys: ['n'], command: 'again', says: 'Same again: another proposition with the same slots; a selection is its outcome', shown: 'N' },
  { keys: ['x'], command: 'remove', says: 'Remove this proposition', shown: 'X' },
  { keys: ['v'], command: 'flip', says: 'Typed words: implied or reworded', shown: 'V' },
  { keys: ['Backspace', 'Delete'], command: 'blank', says: 'Blank the slot that was filled last', shown: 'Backspace' },
  { keys: ['PageUp'], command: 'before', says: 'Proposition before, and after', shown: 'PageUp PageDown' },
  { keys: ['PageDown'], command: 'after', says: '', shown: 'PageDown' },
  ...selectKeys('slot'),
]
