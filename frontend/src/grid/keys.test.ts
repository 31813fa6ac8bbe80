import { expect, it } from 'vitest'
import { walking } from './keys.ts'

const at = { row: 3 }

it.each([
  [{ key: 'ArrowDown', shiftKey: true }, { do: 'move', rows: 1, cols: 0, extend: true }],
  [{ key: 'ArrowLeft', ctrlKey: true }, { do: 'move', rows: 0, cols: -100_000, extend: false }],
  [{ key: 'Home' }, { do: 'go', row: 3, col: 0, extend: false }],
  [{ key: 'End', ctrlKey: true }, { do: 'go', row: 100_000, col: 100_000, extend: false }],
  [{ key: 'D', metaKey: true }, { do: 'fill' }],
  [{ key: 'z', ctrlKey: true }, { do: 'undo' }],
  [{ key: 'c', ctrlKey: true }, null],
  [{ key: 'Enter' }, 'open'],
  [{ key: ' ' }, 'open'],
  [{ key: 'Enter', shiftKey: true }, 'nothing'],
  [{ key: 'Backspace' }, { do: 'clear' }],
  [{ key: 'Escape' }, { do: 'cancel' }],
  [{ key: 'é' }, { do: 'type', key: 'é' }],
  [{ key: 'a', repeat: true }, null],
  [{ key: 'ArrowUp', altKey: true }, null],
  [{ key: 'F5' }, null],
])('%o means %o', (press, meant) => expect(walking(press, at)).toEqual(meant))
