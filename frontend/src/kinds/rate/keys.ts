import type { Binding } from '../../work/keymap.ts'

const DIGITS = [1, 2, 3, 4, 5, 6, 7, 8, 9]

/** The keys of rating. Those of all tasks (Enter, Z, K, !, M, G, ?) are the Work page's. */
export const bindings: readonly Binding[] = [
  ...DIGITS.map((n): Binding => ({
    keys: [String(n)], command: `digit ${n}`, shown: n === 1 ? '1…9' : String(n), settles: true,
    says: n === 1 ? 'Answer the marked question and go to the next; in a group: 1 the rest is the same, 2 to 9 this one differs' : '',
  })),
  { keys: ['0'], command: 'digit 0', says: 'Not applicable', shown: '0', settles: true },
  { keys: ['ArrowUp'], command: 'up', says: 'Question before, after; in the text a line, in the source a sentence', shown: '↑ ↓', repeats: true },
  { keys: ['ArrowDown'], command: 'down', says: '', shown: '↓', repeats: true },
  { keys: ['ArrowLeft'], command: 'left', says: 'In the text: words, Shift extends; on a slider: a step; in the last look: question before, after', shown: '← →', repeats: true },
  { keys: ['ArrowRight'], command: 'right', says: '', shown: '→', repeats: true },
  { keys: ['Home'], command: 'first', says: 'First and last word or sentence', shown: 'Home End' },
  { keys: ['End'], command: 'last', says: '', shown: 'End' },
  { keys: ['t'], command: 'to summary', says: 'Into the summary, into the source', shown: 'T R' },
  { keys: ['r'], command: 'to source', says: '', shown: 'R' },
  { keys: ['f'], command: 'find letter', says: 'In the summary: then a letter, the next word that begins with it; Shift extends to it', shown: 'F' },
  { keys: ['q'], command: 'quote', says: 'Quote what is selected as evidence for the marked question', shown: 'Q' },
  { keys: ['h'], command: 'mark', says: 'Mark the selected words of the summary', shown: 'H' },
  { keys: ['w'], command: 'write', says: 'Write: why, or the text that is asked for', shown: 'W' },
  { keys: ['Backspace', 'Delete'], command: 'remove', says: 'Remove the mark under the cursor, or the last quote', shown: 'Backspace' },
  { keys: ['e'], command: 'examples', says: 'Examples and the whole question', shown: 'E' },
  { keys: ['/'], command: 'search', says: 'Find in the source; Enter: next place', shown: '/' },
  { keys: ['b'], command: 'break', says: 'Take a break', shown: 'B' },
  { keys: ['Escape'], command: 'let go', says: 'Clear the selection, back to the question', shown: 'Esc' },
]
