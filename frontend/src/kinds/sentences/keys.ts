import type { Binding } from '../../work/keymap.ts'
import { CLASSES, MARKS } from './choices.ts'

const says = (key: string) =>
  [CLASSES, MARKS].flatMap((choices) => choices.filter((c) => c.key === key).map((c) => c.title)).join(', or in evidence rounds: ')

/** Keys of both tasks; a card uses those of its own task. */
export const bindings: readonly Binding[] = [
  ...[...CLASSES.map((c) => c.key), 'P', '0'].map((key): Binding => ({
    keys: [key.toLowerCase()], command: `say ${key.toLowerCase()}`, says: says(key), shown: key, settles: true,
  })),
  { keys: ['d'], command: 'drop', says: 'Too many studies: drop or restore the review', shown: 'D', settles: true },
  { keys: ['ArrowDown', 'ArrowRight'], command: 'down', says: 'Next, previous sentence', shown: '↓ ↑', repeats: true },
  { keys: ['ArrowUp', 'ArrowLeft'], command: 'up', says: '', shown: '↑', repeats: true },
  { keys: ['Home'], command: 'first', says: 'First and last sentence', shown: 'Home End' },
  { keys: ['End'], command: 'last', says: '', shown: 'End' },
]
