import type { Binding } from '../../work/keymap.ts'
import { REASON_KEYS } from './reasons.ts'

const numbers = ['1', '2', '3', '4', '5', '6', '7', '8', '9']

/** Keys of the answers. While a value is written, these keys belong to the editor. */
export const answerBindings: readonly Binding[] = [
  ...numbers.map((n): Binding => ({ keys: [n], command: `take ${n}`, says: n === '1' ? 'Take the answer with that number' : '', shown: '1 … 9', settles: true })),
  { keys: ['w'], command: 'write', says: 'Write a value, starting from the chosen answer', shown: 'W', settles: true },
  { keys: ['Enter'], command: 'save', says: 'Save', shown: 'Enter', settles: true },
  { keys: ['z', 'Ctrl+z'], command: 'undo', says: 'Undo, also the last saved decision', shown: 'Z Ctrl+Z' },
  { keys: ['k'], command: 'skip', says: 'Skip for now', shown: 'K', settles: true },
]

/** Keys that also work while a kind's editor is open, unless the editor uses them. */
export const alwaysBindings: readonly Binding[] = [
  ...REASON_KEYS.map((key, n): Binding => ({ keys: [key], command: `reason ${n}`, says: n ? '' : 'The reason on that key', shown: 'Q E R T Y U', settles: true })),
  { keys: ['b'], command: 'another reason', says: 'Write a reason', shown: 'B' },
  { keys: ['m'], command: 'comment', says: 'Reply to the person who gave an answer', shown: 'M' },
  { keys: ['g'], command: 'guideline', says: 'Guideline with examples', shown: 'G' },
  { keys: ['?'], command: 'keys', says: 'These keys', shown: '?' },
  { keys: ['Escape'], command: 'leave', says: 'Back to the answers', shown: 'Esc' },
]
