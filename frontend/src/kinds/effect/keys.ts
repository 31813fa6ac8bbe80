import type { Binding } from '../../work/keymap.ts'
import { DIRECTIONS } from './state.ts'

/** Keys of judging an effect. Those of all tasks (Enter, Z, K, !, M, G, ?) belong to the Work page. */
export const bindings: readonly Binding[] = [
  ...DIRECTIONS.filter((d) => d.key !== '0').map((d) => ({ keys: [d.key.toLowerCase()], command: `choose ${d.value}`, says: d.says, shown: d.key, settles: true })),
  ...Array.from({ length: 10 }, (_, digit) => ({
    keys: [String(digit)], command: `type ${digit}`, settles: digit === 0, shown: digit === 1 ? '1 … 9' : String(digit),
    says: digit === 0 ? 'not reported in this text; or the second digit of a number' : digit === 1 ? 'Sentence; from 10 on two digits in quick succession' : '',
  })),
  { keys: ['ArrowDown'], command: 'down', says: 'Next, previous sentence', shown: '↓ ↑', repeats: true },
  { keys: ['ArrowUp'], command: 'up', says: '', shown: '↑', repeats: true },
]
