/** The points of two texts, on every page: a pure reducer, and the value as it is sent. */

export type Name = 'target' | 'input'
export interface Card {
  readonly texts: readonly { readonly key: Name; readonly text: string }[]
  readonly why: boolean
  readonly value: Value | null
}
export interface Value {
  readonly target: number
  readonly input: number
  readonly remark: string
}
export interface State {
  readonly points: Readonly<Partial<Record<Name, number>>>
  readonly remark: string
}
export type Action = { do: 'points'; of: Name; points: number } | { do: 'remark'; text: string } | { do: 'undo' }

export const POINTS = [1, 2, 3, 4, 5] as const

export function begin(card: Card, draft: State | null): State {
  if (draft) return draft
  const { target, input, remark } = card.value ?? { remark: '' }
  return { points: { ...(target ? { target } : {}), ...(input ? { input } : {}) }, remark }
}

/** The text that waits for its points: the first one on the page that has none. */
export function waiting(card: Card, state: State): Name | null {
  return card.texts.find((t) => !state.points[t.key])?.key ?? null
}

export function reduce(card: Card, state: State, action: Action): State {
  switch (action.do) {
    case 'points':
      return { ...state, points: { ...state.points, [action.of]: action.points } }
    case 'remark':
      return { ...state, remark: action.text }
    case 'undo': {
      const last = card.texts.findLast((t) => state.points[t.key])
      return last ? { ...state, points: Object.fromEntries(Object.entries(state.points).filter(([key]) => key !== last.key)) } : state
    }
  }
}

/** What is sent; null while a text has no points. */
export function toValue({ points: { target, input }, remark }: State): Value | null {
  return target && input ? { target, input, remark } : null
}
