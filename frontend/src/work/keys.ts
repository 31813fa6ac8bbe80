import type { Binding } from './keymap.ts'

/** The keys that every task has. They never change within a round. */
export const sharedBindings: readonly Binding[] = [
  { keys: ['Enter'], command: 'next', says: 'Next, even if something expected is missing', shown: 'Enter', settles: true },
  { keys: ['z', 'Ctrl+z'], command: 'undo', says: 'Undo one step, also back into the text before', shown: 'Z Ctrl+Z' },
  { keys: ['k'], command: 'skip', says: 'Skip, and say why', shown: 'K', settles: true },
  { keys: ['!'], command: 'flag', says: 'Flag for the curator', shown: '!' },
  { keys: ['m'], command: 'comment', says: 'Write a comment', shown: 'M' },
  { keys: ['g'], command: 'guideline', says: 'Guideline with examples', shown: 'G' },
  { keys: ['?'], command: 'keys', says: 'These keys', shown: '?' },
]
