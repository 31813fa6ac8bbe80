import type { Binding } from '../../work/keymap.ts'
import { MODALITIES, POLARITIES } from './values.ts'

/** The keys of the label task. Those of all tasks (Enter, Z, K, !, M, G, ?) are the Work page's. */
export const bindings: readonly Binding[] = [
  ...POLARITIES.filter((p) => p.key).map((p) => ({
    keys: [p.key.toLowerCase()], command: `polarity ${p.value}`, says: `Polarity: ${p.value}`, shown: p.key, settles: true,
  })),
  ...MODALITIES.map((m) => ({
    keys: [m.key], command: `modality ${m.value}`, says: `Modality: ${m.value}`, shown: m.key, settles: true,
  })),
  { keys: ['ArrowLeft'], command: 'left', says: 'Move by a word or a line; Shift extends the selection', shown: '← → ↑ ↓', repeats: true },
  { keys: ['ArrowRight'], command: 'right', says: '', shown: '→', repeats: true },
  { keys: ['ArrowUp'], command: 'up', says: '', shown: '↑', repeats: true },
  { keys: ['ArrowDown'], command: 'down', says: '', shown: '↓', repeats: true },
  { keys: ['Home'], command: 'first', says: 'First and last word', shown: 'Home End' },
  { keys: ['End'], command: 'last', says: '', shown: 'End' },
  { keys: ['f'], command: 'find', says: 'Then a letter: the next word that begins with it; Shift extends to it', shown: 'F' },
  { keys: [' '], command: 'keep', says: 'Add another part to the same cue', shown: 'Space' },
  { keys: [','], command: 'end back', says: 'End of the selection by one character back and forth', shown: ', .', repeats: true },
  { keys: ['.'], command: 'end on', says: '', shown: '.', repeats: true },
  { keys: ['<'], command: 'start back', says: 'Start of the selection by one character', shown: '< >', repeats: true },
  { keys: ['>'], command: 'start on', says: '', shown: '>', repeats: true },
  { keys: ['n'], command: 'candidate', says: 'Next candidate cue, where the round shows them', shown: 'N' },
  { keys: ['Backspace', 'Delete'], command: 'remove', says: 'Delete the cue under the cursor', shown: 'Backspace' },
  { keys: ['Escape'], command: 'let go', says: 'Clear selection', shown: 'Esc' },
]
