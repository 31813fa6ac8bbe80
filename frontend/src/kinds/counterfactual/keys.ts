import type { Binding } from '../../work/keymap.ts'
import { REASONS } from './words.ts'

export const bindings: readonly Binding[] = [
  ...REASONS.map((_, n): Binding => ({
    keys: [String(n + 1)], command: `choose ${n}`, says: n ? '' : 'Use that draft; after X, that reason', shown: n ? String(n + 1) : '1 2 3 4 5', settles: true,
  })),
  { keys: ['e'], command: 'edit', says: 'Edit the text; Ctrl+Enter accepts, Esc returns', shown: 'E' },
  { keys: ['x'], command: 'reasons', says: 'Does not apply …', shown: 'X' },
  { keys: ['Escape'], command: 'close', says: 'Back to the drafts', shown: 'Esc' },
]
