import type { Binding } from '../../work/keymap.ts'
import { MISSING } from './state.ts'

/** Keys of listing studies. The browser handles Ctrl+V. */
export const bindings: readonly Binding[] = [
  { keys: ['p'], command: 'type', says: 'Type or paste PMIDs; Enter adds them (Ctrl+V works anywhere)', shown: 'P' },
  { keys: [' '], command: 'toggle', says: 'Add or remove the current reference', shown: 'Space', settles: true },
  { keys: ['a'], command: 'all', says: 'Add all references marked as included studies in the full text', shown: 'A', settles: true },
  ...MISSING.map(({ value, key, title }): Binding => ({
    keys: [key], command: `lacks ${value}`, says: `${title}: abstract of the current study unavailable`, shown: key, settles: true,
  })),
  { keys: ['+'], command: 'more', says: 'Add or remove one study not in PubMed', shown: '+ -', settles: true },
  { keys: ['-'], command: 'fewer', says: '', shown: '-', settles: true },
  { keys: ['ArrowDown'], command: 'down', says: 'Next, previous reference', shown: '↓ ↑', repeats: true },
  { keys: ['ArrowUp'], command: 'up', says: '', shown: '↑', repeats: true },
  { keys: ['Home'], command: 'first', says: 'First and last reference', shown: 'Home End' },
  { keys: ['End'], command: 'last', says: '', shown: 'End' },
]
