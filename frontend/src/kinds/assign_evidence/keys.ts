import type { Binding } from '../../work/keymap.ts'

export const bindings: readonly Binding[] = [
  ...Array.from({ length: 9 }, (_, n): Binding => ({
    keys: [String(n + 1)], command: `tick ${n}`, says: n ? '' : 'Tick or untick that text', shown: n ? String(n + 1) : '1 … 9', settles: true,
  })),
  { keys: ['ArrowDown', 'ArrowRight'], command: 'down', says: 'Next, previous text', shown: '↓ ↑', repeats: true },
  { keys: ['ArrowUp', 'ArrowLeft'], command: 'up', says: '', shown: '↑', repeats: true },
  { keys: [' '], command: 'tick', says: 'Tick or untick the current text', shown: 'Space', settles: true },
  { keys: ['a'], command: 'all', says: 'Tick all, or none', shown: 'A', settles: true },
]
