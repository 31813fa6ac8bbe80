import type { Binding } from './keymap.ts'

/** Key of units that show a model's suggestion. */
export const rejectBinding: Binding = { keys: ['q'], command: 'reject', says: 'Reject the suggestion and begin anew', shown: 'Q' }

/** Keys common to all tasks. */
export const sharedBindings: readonly Binding[] = [
  { keys: ['Enter'], command: 'next', says: 'Next, even if a cue is missing', shown: 'Enter', settles: true },
  { keys: ['z', 'Ctrl+z'], command: 'undo', says: 'Undo one step, also into the previous text', shown: 'Z Ctrl+Z' },
  { keys: ['k'], command: 'skip', says: 'Skip with a reason', shown: 'K', settles: true },
  { keys: ['!'], command: 'flag', says: 'Flag for the curator', shown: '!' },
  { keys: ['m'], command: 'comment', says: 'Write a comment', shown: 'M' },
  { keys: ['g'], command: 'guideline', says: 'Guideline with examples', shown: 'G' },
  { keys: ['?'], command: 'keys', says: 'These keys', shown: '?' },
]
