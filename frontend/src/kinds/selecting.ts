/** Select words of a text by key, mouse or touch; shared by all kinds that mark texts. Pure functions. */

import type { Binding } from '../work/keymap.ts'
import type { Range } from '../text/offsets.ts'
import { adjust, clear, drag, jump, keep, moveEnd, moveTo, tap, type Selection } from '../text/selection.ts'

export interface Selecting {
  readonly selection: Selection
  /** Set after F is pressed, until a letter follows. */
  readonly finding: null | { extend: boolean }
}

export type SelectAction =
  | { do: 'move'; to: number; extend: boolean }
  | { do: 'find'; extend: boolean }
  | { do: 'letter'; letter: string; extend: boolean }
  | { do: 'keep' }
  | { do: 'adjust'; edge: 'start' | 'end'; by: 1 | -1 }
  | { do: 'drag'; range: Range; characters: boolean; keepEarlier: boolean }
  | { do: 'tap'; word: number }
  | { do: 'end'; end: 'start' | 'end'; word: number }
  | { do: 'let go' }

export function select({ selection: s, finding }: Selecting, text: string, words: readonly Range[], action: SelectAction): Selecting {
  const now = (selection: Selection): Selecting => ({ selection, finding: null })
  switch (action.do) {
    case 'move':
      return now(moveTo(s, words, action.to, action.extend))
    case 'find':
      return { selection: s, finding: { extend: action.extend } }
    case 'letter':
      return now(jump(s, text, words, action.letter, action.extend || (finding?.extend ?? false)))
    case 'keep':
      return now(keep(s, words))
    case 'adjust':
      return now(adjust(s, text, words, action.edge, action.by))
    case 'drag':
      return now(drag(s, words, action.range, action))
    case 'tap':
      return now(tap(s, words, action.word))
    case 'end':
      return now(moveEnd(s, words, action.end, action.word))
    case 'let go':
      return now(clear(s))
  }
}

/** The action of a command of `selectKeys`; null for other commands. `onLine` finds the word above or below. */
export function selects(
  command: string, press: { shiftKey: boolean }, cursor: number, words: number, onLine: (from: number, lines: 1 | -1) => number | null,
): SelectAction | null {
  const move = (to: number | null): SelectAction | null => (to === null ? null : { do: 'move', to, extend: press.shiftKey })
  switch (command) {
    case 'left':
      return move(cursor - 1)
    case 'right':
      return move(cursor + 1)
    case 'up':
      return move(onLine(cursor, -1))
    case 'down':
      return move(onLine(cursor, 1))
    case 'first':
      return move(0)
    case 'last':
      return move(words - 1)
    case 'find':
      return { do: 'find', extend: press.shiftKey }
    case 'keep':
      return { do: 'keep' }
    case 'let go':
      return { do: 'let go' }
  }
  const edge = /^(start|end) (back|on)$/.exec(command)
  return edge ? { do: 'adjust', edge: edge[1] as 'start', by: edge[2] === 'on' ? 1 : -1 } : null
}

/** The action of the letter after F; 'none' for another key, which ends the search. */
export function letterOf(finding: Selecting['finding'], press: KeyboardEvent): SelectAction | 'none' | null {
  if (!finding || press.ctrlKey || press.metaKey || /^(Shift|CapsLock|AltGraph|Dead)$/.test(press.key)) return null
  return [...press.key].length === 1 ? { do: 'letter', letter: press.key, extend: press.shiftKey } : 'none'
}

/** Keys for selecting; `of` names what people mark: "cue", "element". */
export const selectKeys = (of: string): readonly Binding[] => [
  { keys: ['ArrowLeft'], command: 'left', says: 'Move by a word or a line; Shift extends the selection', shown: '← → ↑ ↓', repeats: true },
  { keys: ['ArrowRight'], command: 'right', says: '', shown: '→', repeats: true },
  { keys: ['ArrowUp'], command: 'up', says: '', shown: '↑', repeats: true },
  { keys: ['ArrowDown'], command: 'down', says: '', shown: '↓', repeats: true },
  { keys: ['Home'], command: 'first', says: 'First and last word', shown: 'Home End' },
  { keys: ['End'], command: 'last', says: '', shown: 'End' },
  { keys: ['f'], command: 'find', says: 'Then a letter: next word with this initial; Shift extends', shown: 'F' },
  { keys: [' '], command: 'keep', says: `Add another part to the same ${of}`, shown: 'Space' },
  { keys: [','], command: 'end back', says: 'Move the end of the selection by one character', shown: ', .', repeats: true },
  { keys: ['.'], command: 'end on', says: '', shown: '.', repeats: true },
  { keys: ['<'], command: 'start back', says: 'Move the start of the selection by one character', shown: '< >', repeats: true },
  { keys: ['>'], command: 'start on', says: '', shown: '>', repeats: true },
  { keys: ['Escape'], command: 'let go', says: 'Clear selection', shown: 'Esc' },
]
