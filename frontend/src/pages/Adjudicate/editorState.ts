/** State of the decision on one unit, as a pure reducer: an answer or a new value, and a reason, in either order. */

import type { Value } from '../../kinds/kind.ts'

export interface EditorState {
  /** Index of the chosen answer, or null. */
  readonly taken: number | null
  /** A value written by the curator, instead of an answer. */
  readonly written: Value | null
  /** Draft of the editor of the written value. */
  readonly draft: unknown
  readonly writing: boolean
  readonly reason: string
  /** Value and reason are given: store the decision. */
  readonly complete: boolean
}

export type Action =
  | { do: 'take'; answer: number }
  | { do: 'give'; reason: string }
  | { do: 'write' }
  | { do: 'wrote'; value: Value; draft: unknown }
  | { do: 'leave' }
  | { do: 'undo' }

export const initialState: EditorState = { taken: null, written: null, draft: null, writing: false, reason: '', complete: false }

/** Whether an answer is taken or a value written: only then there is something to save. */
export const hasValue = (state: EditorState): boolean => state.taken !== null || state.written !== null

/** `answers` is their number. An action that does not apply returns the same object. */
export function reduce(state: EditorState, action: Action, answers: number): EditorState {
  switch (action.do) {
    case 'take':
      if (action.answer < 0 || action.answer >= answers) return state
      return settled({ ...state, taken: action.answer, written: null, draft: null, writing: false })
    case 'give':
      return action.reason.trim() ? settled({ ...state, reason: action.reason.trim() }) : state
    case 'write':
      return state.writing ? state : { ...state, writing: true, complete: false }
    case 'wrote':
      return settled({ ...state, taken: null, written: action.value, draft: action.draft, writing: false })
    case 'leave':
      return state.writing ? { ...state, writing: false } : state
    case 'undo':
      if (state.writing) return { ...state, writing: false }
      return state.reason || hasValue(state) ? initialState : state
  }
}

/** A reason alone completes nothing while a value is being written. */
function settled(state: EditorState): EditorState {
  return { ...state, complete: !state.writing && state.reason !== '' && hasValue(state) }
}

/** The missing part, for the line under the buttons. */
export function missing(state: EditorState, keys: string): string {
  if (state.writing) return 'Complete the value. Esc returns to the answers.'
  const chosen = hasValue(state)
  if (chosen && !state.reason) return `Give a reason: ${keys}`
  if (!chosen && state.reason) return 'Take an answer, or write a value.'
  return chosen ? '' : 'Take an answer, or write a value.'
}
