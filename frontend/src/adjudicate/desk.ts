/** One unit in front of a curator, as a pure reducer: an answer or a value of one's own, and a reason, in either order. */

import type { Value } from '../kinds/kind.ts'

export interface Desk {
  /** Which answer is taken, by its place from 0; null where none is. */
  readonly taken: number | null
  /** The value that the curator wrote; it takes the place of an answer. */
  readonly written: Value | null
  /** The editor of what was written, to go on with. */
  readonly draft: unknown
  readonly writing: boolean
  readonly reason: string
  /** Both are there: it is to be stored, and the next unit comes. */
  readonly complete: boolean
}

export type Action =
  | { do: 'take'; answer: number }
  | { do: 'give'; reason: string }
  | { do: 'write' }
  | { do: 'wrote'; value: Value; draft: unknown }
  | { do: 'leave' }
  | { do: 'undo' }

export const fresh: Desk = { taken: null, written: null, draft: null, writing: false, reason: '', complete: false }

/** `answers`: how many there are. An action that does not apply leaves the very same desk. */
export function reduce(desk: Desk, action: Action, answers: number): Desk {
  switch (action.do) {
    case 'take':
      if (action.answer < 0 || action.answer >= answers) return desk
      return settled({ ...desk, taken: action.answer, written: null, draft: null, writing: false })
    case 'give':
      return action.reason.trim() ? settled({ ...desk, reason: action.reason.trim() }) : desk
    case 'write':
      return desk.writing ? desk : { ...desk, writing: true, complete: false }
    case 'wrote':
      return settled({ ...desk, taken: null, written: action.value, draft: action.draft, writing: false })
    case 'leave':
      return desk.writing ? { ...desk, writing: false } : desk
    case 'undo':
      if (desk.writing) return { ...desk, writing: false }
      return desk.reason || desk.taken !== null || desk.written ? fresh : desk
  }
}

/** While something is being written a reason alone settles nothing. */
function settled(desk: Desk): Desk {
  return { ...desk, complete: !desk.writing && desk.reason !== '' && (desk.taken !== null || desk.written !== null) }
}

/** What is still missing, for the line under the buttons. */
export function missing(desk: Desk, keys: string): string {
  if (desk.writing) return 'Complete the value. Esc goes back to the answers.'
  const chosen = desk.taken !== null || desk.written !== null
  if (chosen && !desk.reason) return `Give a reason: ${keys}`
  if (!chosen && desk.reason) return 'Which answer? Take one, or write another.'
  return chosen ? '' : 'Take an answer, or write another.'
}
