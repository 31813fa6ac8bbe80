import type { Binding } from '../../work/keymap.ts'

/** Keys of choosing. The keys of all tasks (Enter, Z, K, !, M, G, ?) belong to the Work page. */
export const bindings: readonly Binding[] = [
  ...[1, 2, 3, 4].map((n): Binding => ({
    keys: [String(n)], command: `text ${n}`, shown: n === 1 ? '1…4' : String(n), settles: true,
    says: n === 1 ? 'First the best, then the worst summary; again: take it back' : '',
  })),
  { keys: ['ArrowUp'], command: 'up', says: 'Previous, next question; in the source a sentence', shown: '↑ ↓', repeats: true },
  { keys: ['ArrowDown'], command: 'down', says: '', shown: '↓', repeats: true },
  { keys: ['r'], command: 'to source', says: 'Go to the source', shown: 'R' },
  { keys: ['e'], command: 'examples', says: 'Examples and full question', shown: 'E' },
  { keys: ['/'], command: 'search', says: 'Find in the source; Enter: next match', shown: '/' },
  { keys: ['b'], command: 'break', says: 'Take a break', shown: 'B' },
  { keys: ['Escape'], command: 'let go', says: 'Back to the question', shown: 'Esc' },
]
