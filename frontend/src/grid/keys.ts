/** Actions of key presses in a grid, as in a spreadsheet. Pure functions. */

import type { Press } from '../work/keymap.ts'
import type { Action } from './model.ts'

const ARROWS: Record<string, readonly [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }
/** More than any number of rows and columns. */
const FAR = 100_000

/** 'open': Enter on a cell; 'nothing': handled without effect; null: left to the browser. */
export type Meant = Action<never> | 'open' | 'nothing' | null

/** The action of a key while no cell is edited, except Tab. */
export function walking(press: Press, at: { row: number }): Meant {
  const { key, shiftKey: extend = false } = press
  const control = Boolean(press.ctrlKey || press.metaKey)
  if (press.altKey) return null
  const arrow = ARROWS[key]
  if (arrow) {
    const by = control ? FAR : 1
    return { do: 'move', rows: arrow[0] * by, cols: arrow[1] * by, extend }
  }
  if (key === 'Home' || key === 'End') {
    const last = key === 'End' ? FAR : 0
    return { do: 'go', row: control ? last : at.row, col: last, extend }
  }
  if (control) {
    const command = ({ d: 'fill', z: 'undo', a: 'all' } as const)[key.toLowerCase()]
    return command ? { do: command } : null
  }
  if (key === 'Enter' || key === 'F2' || key === ' ') return extend ? 'nothing' : 'open'
  if (key === 'Delete' || key === 'Backspace') return { do: 'clear' }
  if (key === 'Escape') return { do: 'cancel' }
  return [...key].length === 1 && !press.repeat ? { do: 'type', key } : null
}
