import type { Binding } from '../../work/keymap.ts'
import { MISSING } from './state.ts'

/** The keys of listing studies. Pasting is the browser's own Ctrl+V. */
export const bindings: readonly Binding[] = [
  { keys: ['p'], command: 'type', says: 'Type or paste PMIDs; Enter lists them (Ctrl+V pastes without it)', shown: 'P' },
  { keys: [' '], command: 'toggle', says: 'List the reference at hand, or take it off', shown: 'Space', settles: true },
  { keys: ['a'], command: 'all', says: 'List all references that the full text marks as included studies', shown: 'A', settles: true },
  ...MISSING.map(({ value, key, title }): Binding => ({
    keys: [key], command: `lacks ${value}`, says: `${title}: the abstract of the study at hand cannot be had`, shown: key, settles: true,
  })),
  { keys: ['+'], command: 'more', says: 'One more study that PubMed does not have, one fewer', shown: '+ -', settles: true },
  { keys: ['-'], command: 'fewer', says: '', shown: '-', settles: true },
  { keys: ['ArrowDown'], command: 'down', says: 'Next reference, reference before', shown: '↓ ↑', repeats: true },
  { keys: ['ArrowUp'], command: 'up', says: '', shown: '↑', repeats: true },
  { keys: ['Home'], command: 'first', says: 'First and last reference', shown: 'Home End' },
  { keys: ['End'], command: 'last', says: '', shown: 'End' },
]
