import type { Binding } from '../../work/keymap.ts'

export const bindings: readonly Binding[] = [
  { keys: ['ArrowDown', 'ArrowRight'], command: 'down', says: 'Next sentence, sentence before', shown: '↓ ↑', repeats: true },
  { keys: ['ArrowUp', 'ArrowLeft'], command: 'up', says: '', shown: '↑', repeats: true },
  { keys: ['Home'], command: 'first', says: 'First and last sentence', shown: 'Home End' },
  { keys: ['End'], command: 'last', says: '', shown: 'End' },
  { keys: [' '], command: 'mark', says: 'Mark the sentence, or take that back', shown: 'Space', settles: true },
  { keys: ['0'], command: 'nothing', says: 'No sentence supports the target', shown: '0', settles: true },
]
