import type { Binding } from '../../work/keymap.ts'

const DIGITS = [1, 2, 3, 4, 5, 6, 7, 8, 9]

/** Keys of rating. The keys of all tasks (Enter, Z, K, !, M, G, ?) belong to the Work page. */
export const bindings: readonly Binding[] = [
  ...DIGITS.map((n): Binding => ({
    keys: [String(n)], command: `digit ${n}`, shown: n === 1 ? '1…9' : String(n), settles: true,
    says: n === 1 ? 'Answer the current question and go to the next; in a group: 1 rest same, 2 to 9 this one differs' : '',
  })),
  { keys: ['0'], command: 'digit 0', says: 'Not applicable', shown: '0', settles: true },
  { keys: ['ArrowUp'], command: 'up', says: 'Previous, next question; in the text a line, in the source a sentence', shown: '↑ ↓', repeats: true },
  { keys: ['ArrowDown'], command: 'down', says: '', shown: '↓', repeats: true },
  { keys: ['ArrowLeft'], command: 'left', says: 'In the text: words, Shift extends; on a slider: a step; in the final check: previous, next question', shown: '← →', repeats: true },
  { keys: ['ArrowRight'], command: 'right', says: '', shown: '→', repeats: true },
  { keys: ['Home'], command: 'first', says: 'First and last word or sentence', shown: 'Home End' },
  { keys: ['End'], command: 'last', says: '', shown: 'End' },
  { keys: ['t'], command: 'to summary', says: 'Go to the summary, the source', shown: 'T R' },
  { keys: ['r'], command: 'to source', says: '', shown: 'R' },
  { keys: ['f'], command: 'find letter', says: 'In the summary, then a letter: next word with this initial; Shift extends', shown: 'F' },
  { keys: ['q'], command: 'quote', says: 'Quote the selection as evidence for the current question', shown: 'Q' },
  { keys: ['h'], command: 'mark', says: 'Mark the selected words of the summary', shown: 'H' },
  { keys: ['w'], command: 'write', says: 'Write a reason, or the text answer', shown: 'W' },
  { keys: ['Backspace', 'Delete'], command: 'remove', says: 'Remove the mark under the cursor, or the last quote', shown: 'Backspace' },
  { keys: ['e'], command: 'examples', says: 'Examples and full question', shown: 'E' },
  { keys: ['/'], command: 'search', says: 'Find in the source; Enter: next match', shown: '/' },
  { keys: ['b'], command: 'break', says: 'Take a break', shown: 'B' },
  { keys: ['Escape'], command: 'let go', says: 'Clear the selection, return to the question', shown: 'Esc' },
]
