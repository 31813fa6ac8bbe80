import type { Binding } from '../../work/keymap.ts'

export const bindings: readonly Binding[] = [
  ...Array.from({ length: 9 }, (_, n): Binding => ({
    keys: [String(n + 1)], command: `tick ${n}`, says: n ? '' : 'Tick that text, or take it back', shown: n ? String(n + 1) : '1 … 9', settles: true,
  })),
  { keys: ['ArrowDown', 'ArrowRight'], command: 'down', says: 'Next text, text before', shown: '↓ ↑', repeats: true },
  { keys: ['ArrowUp', 'ArrowLeft'], command: 'up', says: '', shown: '↑', repeats: true },
  { keys: [' '], command: 'tick', says: 'Tick the text at hand, or take it back', shown: 'Space', settles: true },
  { keys: ['a'], command: 'all', says: 'Tick all, or none', shown: 'A', settles: true },
]
