import { ORDER, ELEMENTS } from '../../pico/elements.ts'
import type { Binding } from '../../work/keymap.ts'
import { selectKeys } from '../selecting.ts'
import { BLANKS } from './state.ts'

/** Keys of splitting. The keys of all tasks (Enter, Z, K, !, M, G, ?) belong to the Work page; C is the comparator. */
export const bindings: readonly Binding[] = [
  ...ORDER.map((element) => ({
    keys: [element], command: `element ${element}`, shown: element.toUpperCase(),
    says: `${ELEMENTS[element]}: fill with the selection, or type; Shift adds a part`,
  })),
  ...BLANKS.map(({ value, key }) => ({ keys: [key], command: `stands for ${value}`, says: `Blank comparator: ${value}`, shown: key })),
  { keys: ['n'], command: 'again', says: 'Copy the proposition; a selection becomes the outcome of the copy', shown: 'N' },
  { keys: ['x'], command: 'remove', says: 'Remove this proposition', shown: 'X' },
  { keys: ['v'], command: 'flip', says: 'Typed words: implied or reworded', shown: 'V' },
  { keys: ['Backspace', 'Delete'], command: 'blank', says: 'Clear the element filled last', shown: 'Backspace' },
  { keys: ['PageUp'], command: 'before', says: 'Previous, next proposition', shown: 'PageUp PageDown' },
  { keys: ['PageDown'], command: 'after', says: '', shown: 'PageDown' },
  ...selectKeys('element'),
]
