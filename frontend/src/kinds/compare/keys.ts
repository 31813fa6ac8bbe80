import type { Binding } from '../../work/keymap.ts'

/** Keys of a comparison. The keys of all tasks (Enter, Z, K, !, M, G, ?) belong to the Work page. */
export const bindings: readonly Binding[] = [
  { keys: ['1', 'ArrowLeft'], command: 'left', says: 'The left, or first, is better', shown: '← 1', settles: true },
  { keys: ['2', 'ArrowRight'], command: 'right', says: 'The right, or second, is better', shown: '→ 2', settles: true },
  { keys: ['3', 'ArrowUp'], command: 'tie', says: 'Tie; in the source: previous sentence', shown: '↑ 3', settles: true },
  { keys: ['4', 'ArrowDown'], command: 'neither', says: 'Neither; in the source: next sentence', shown: '↓ 4', settles: true },
  { keys: ['w'], command: 'write', says: 'Write a reason, before you choose', shown: 'W' },
  { keys: ['r'], command: 'to source', says: 'Go to the source', shown: 'R' },
  { keys: ['e'], command: 'examples', says: 'Examples and full question', shown: 'E' },
  { keys: ['/'], command: 'search', says: 'Find in the source; Enter: next match', shown: '/' },
  { keys: ['b'], command: 'break', says: 'Take a break', shown: 'B' },
  { keys: ['Escape'], command: 'let go', says: 'Back to the question', shown: 'Esc' },
]
