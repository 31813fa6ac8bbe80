import type { Binding } from '../../work/keymap.ts'

/** The keys of a comparison. Those of all tasks (Enter, Z, K, !, M, G, ?) are the Work page's. */
export const bindings: readonly Binding[] = [
  { keys: ['1', 'ArrowLeft'], command: 'left', says: 'The left, or first, is better', shown: '← 1', settles: true },
  { keys: ['2', 'ArrowRight'], command: 'right', says: 'The right, or second, is better', shown: '→ 2', settles: true },
  { keys: ['3', 'ArrowUp'], command: 'tie', says: 'Tie; in the source: a sentence up', shown: '↑ 3', settles: true },
  { keys: ['4', 'ArrowDown'], command: 'neither', says: 'Neither; in the source: a sentence down', shown: '↓ 4', settles: true },
  { keys: ['w'], command: 'write', says: 'Write why, before you choose', shown: 'W' },
  { keys: ['r'], command: 'to source', says: 'Into the source', shown: 'R' },
  { keys: ['e'], command: 'examples', says: 'Examples and the whole question', shown: 'E' },
  { keys: ['/'], command: 'search', says: 'Find in the source; Enter: next place', shown: '/' },
  { keys: ['b'], command: 'break', says: 'Take a break', shown: 'B' },
  { keys: ['Escape'], command: 'let go', says: 'Back to the question', shown: 'Esc' },
]
