import type { Binding } from '../../work/keymap.ts'

/** The ranks shown in the margin. */
const RANKS = [1, 2, 3]

export const bindings: readonly Binding[] = [
  { keys: ['ArrowDown', 'ArrowRight'], command: 'down', says: 'Next, previous sentence', shown: '↓ ↑', repeats: true },
  { keys: ['ArrowUp', 'ArrowLeft'], command: 'up', says: '', shown: '↑', repeats: true },
  { keys: ['Home'], command: 'first', says: 'First and last sentence', shown: 'Home End' },
  { keys: ['End'], command: 'last', says: '', shown: 'End' },
  { keys: [' '], command: 'mark', says: 'Mark or unmark the sentence', shown: 'Space', settles: true },
  ...RANKS.map((rank, n): Binding => ({
    keys: [String(rank)], command: `rank ${rank}`, says: n ? '' : 'Mark or unmark the sentence with this number in the margin',
    shown: n ? String(rank) : '1 2 3', settles: true,
  })),
  { keys: ['0'], command: 'nothing', says: 'No sentence supports the target', shown: '0', settles: true },
]
