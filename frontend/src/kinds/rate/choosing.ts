/** Answers: by digit, by a press, along a slider, and a group by its exceptions. Pure. */

import type { Criterion } from '../../rating/protocol.ts'
import { asCell, codesOfCell } from '../../rating/sets.ts'
import { asked, NONE, restSame, saidOf } from './answers.ts'
import { mark } from './marking.ts'
import { answersOf, isLastLook, marked, put, rowOf, withSaid, type Facts, type State } from './place.ts'
import { onward } from './walking.ts'

export type By = 'key' | 'click' | 'arrow'

export const round = (n: number): number => Number(n.toFixed(6))
export function sliderOf(criterion: Criterion): { minimum: number; maximum: number; step: number } {
  const { minimum, maximum, step: by } = criterion.scale
  return { minimum: minimum ?? 0, maximum: maximum ?? 100, step: by || 1 }
}

export function digit(f: Facts, s: State, n: number): State {
  const criterion = marked(f, s)
  if (!criterion) {
    if (n === 1) return rest(f, s)
    const one = asked(f.protocol, f.items[s.item]!, answersOf(f, s))[n - 2]
    const differs = one?.scale.options[1]
    if (!one || !differs) return s
    const was = saidOf(answersOf(f, s), one.key).value === differs.value
    const after = put(f, s, withSaid(answersOf(f, s), one.key, { value: was ? null : differs.value, na: false, prefilled: false }))
    return { ...after, nudge: 'Press 1 when the others are the same.' }
  }
  if (n === 0) return criterion.na ? choose(f, s, criterion.key, null, true, 'key') : s
  const { type, options } = criterion.scale
  if (type === 'slider') {
    const { minimum, maximum, step: by } = sliderOf(criterion)
    const to = minimum + Math.round(((maximum - minimum) * n) / 10 / by) * by
    return choose(f, s, criterion.key, String(round(to)), false, 'key')
  }
  if (type === 'spans') return n === 1 ? choose(f, s, criterion.key, NONE, false, 'key') : n === 2 ? mark(f, s) : s
  const option = options[n - 1]
  return option && type !== 'text' ? choose(f, s, criterion.key, option.value, false, 'key') : s
}

export function choose(f: Facts, s: State, key: string, value: string | null, na: boolean, by: By, at?: number): State {
  const row = at ?? rowOf(f, s)
  const criterion = f.protocol.criteria.find((c) => c.key === key)
  if (!criterion) return s
  const answers = answersOf(f, s, row)
  const said = saidOf(answers, key)
  if (criterion.scale.type === 'spans' && said.spans.length && (na || value === NONE)) {
    return { ...s, nudge: 'Words are marked. Remove the marks first: Backspace.' }
  }
  let to = value
  if (criterion.scale.type === 'multi-label' && value !== null) {
    const codes = codesOfCell(said.value ?? '')
    if (!codes.delete(value)) codes.add(value)
    to = codes.size ? asCell(codes) : null
  }
  const after = put(f, s, withSaid(answers, key, { value: to, na, prefilled: false }), row)
  const within = marked(f, after)?.key === key || f.items[after.item]?.criteria.some((c) => c.key === key)
  const here = within || isLastLook(f, s) ? after : { ...after, item: f.items.findIndex((i) => i.criteria.some((c) => c.key === key)) }
  const stays = by === 'arrow' || criterion.scale.type === 'multi-label' || criterion.scale.type === 'slider' && by !== 'key'
  return stays ? here : onward(f, here)
}

export function rest(f: Facts, s: State): State {
  const item = f.items[s.item]
  return item?.group && !isLastLook(f, s) ? onward(f, put(f, s, restSame(f.protocol, item, answersOf(f, s), f.page.target))) : s
}

export function slide(f: Facts, s: State, by: number): State {
  const now = marked(f, s)
  if (now?.scale.type !== 'slider') return s
  const { minimum, maximum, step } = sliderOf(now)
  const said = saidOf(answersOf(f, s), now.key).value
  const to = said === null ? (minimum + maximum) / 2 : Number(said) + by * step
  return choose(f, s, now.key, String(round(Math.max(minimum, Math.min(maximum, to)))), false, 'arrow')
}
