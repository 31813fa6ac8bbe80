/** Give answers by digit, click or slider, and groups by exception. Pure functions. */

import type { Criterion } from '../../rating/protocol.ts'
import { asCell, codesOfCell } from './sets.ts'
import { askedCriteria, NONE, restSame, saidOf } from './answers.ts'
import { mark } from './marking.ts'
import { answersOf, isLastLook, markedCriterion, withAnswers, rowOf, withSaid, type Facts, type State } from './focusTarget.ts'
import { onward } from './navigation.ts'

export type By = 'key' | 'click' | 'arrow'

export const round = (n: number): number => Number(n.toFixed(6))
export function sliderOf(criterion: Criterion): { minimum: number; maximum: number; step: number } {
  const { minimum, maximum, step: by } = criterion.scale
  return { minimum: minimum ?? 0, maximum: maximum ?? 100, step: by || 1 }
}

/** The nearest valid value of a slider: a whole number of steps from the minimum. */
function onStep(criterion: Criterion, to: number): string {
  const { minimum, maximum, step } = sliderOf(criterion)
  const steps = Math.min(Math.round((to - minimum) / step), Math.floor((maximum - minimum) / step + 1e-6))
  return String(round(minimum + Math.max(0, steps) * step))
}

export function digit(f: Facts, s: State, n: number): State {
  const criterion = markedCriterion(f, s)
  if (!criterion) {
    if (n === 1) return rest(f, s)
    const one = askedCriteria(f.protocol, f.items[s.item]!, answersOf(f, s))[n - 2]
    const differs = one?.scale.options[1]
    if (!one || !differs) return s
    const wasChosen = saidOf(answersOf(f, s), one.key).value === differs.value
    const after = withAnswers(f, s, withSaid(answersOf(f, s), one.key, { value: wasChosen ? null : differs.value, na: false, prefilled: false }))
    return { ...after, nudge: 'Press 1 to answer the rest as same.' }
  }
  const { type, options } = criterion.scale
  if (n === 0 && criterion.na) return choose(f, s, criterion.key, null, true, 'key')
  // Without N/A, 0 is the lowest value of a slider.
  if (n === 0 && type !== 'slider') return s
  if (type === 'slider') {
    const { minimum, maximum } = sliderOf(criterion)
    return choose(f, s, criterion.key, onStep(criterion, minimum + ((maximum - minimum) * n) / 10), false, 'key')
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
    return { ...s, nudge: 'Words are marked. Remove the marks first (Backspace).' }
  }
  let to = value
  if (criterion.scale.type === 'multi-label' && value !== null) {
    const codes = codesOfCell(said.value ?? '')
    if (!codes.delete(value)) codes.add(value)
    to = codes.size ? asCell(codes) : null
  }
  const after = withAnswers(f, s, withSaid(answers, key, { value: to, na, prefilled: false }), row)
  const within = markedCriterion(f, after)?.key === key || f.items[after.item]?.criteria.some((c) => c.key === key)
  const target = within || isLastLook(f, s) ? after : { ...after, item: f.items.findIndex((i) => i.criteria.some((c) => c.key === key)) }
  const stays = by === 'arrow' || criterion.scale.type === 'multi-label' || criterion.scale.type === 'slider' && by !== 'key'
  return stays ? target : onward(f, target)
}

export function rest(f: Facts, s: State): State {
  const item = f.items[s.item]
  return item?.group && !isLastLook(f, s) ? onward(f, withAnswers(f, s, restSame(f.protocol, item, answersOf(f, s), f.page.target))) : s
}

export function slide(f: Facts, s: State, by: number): State {
  const now = markedCriterion(f, s)
  if (now?.scale.type !== 'slider') return s
  const { minimum, maximum, step } = sliderOf(now)
  const said = saidOf(answersOf(f, s), now.key).value
  const to = said === null ? (minimum + maximum) / 2 : Number(said) + by * step
  return choose(f, s, now.key, onStep(now, to), false, 'arrow')
}
