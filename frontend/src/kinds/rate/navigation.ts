/** Navigation between items, texts and the final check. Pure functions. */

import { emptySelection } from '../../text/selection.ts'
import { askedCriteria, firstOpen, lacks, saidOf, type Answers } from './answers.ts'
import { answersOf, columns, isDone, isLastLook, afterShowing, step, type Facts, type State } from './focusTarget.ts'

/** Move to the next incomplete item; stay if all are complete, so that evidence can be added to the last one. */
export function onward(f: Facts, s: State): State {
  if (isLastLook(f, s)) return s
  const here = askedCriteria(f.protocol, f.items[s.item]!, answersOf(f, s)).find((c) => lacks(c, saidOf(answersOf(f, s), c.key)))
  if (here && lacks(here, saidOf(answersOf(f, s), here.key)).startsWith('reason')) return { ...s, nudge: `Reason required: ${here.name}. Press W.` }
  if (here && f.items[s.item]!.group) return s
  const open = firstOpen(f.protocol, f.items, answersOf(f, s), s.item)
  return open < 0 ? s : { ...s, item: open }
}

export function move(f: Facts, s: State, by: 1 | -1, across: boolean): State {
  if (isLastLook(f, s)) {
    if (!across) return { ...s, row: Math.max(0, Math.min(f.page.texts.length - 1, s.row + by)) }
    return { ...s, item: Math.max(0, Math.min(columns(f, answersOf(f, s)).length - 1, s.item + by)) }
  }
  for (let n = s.item + by; f.items[n]; n += by) {
    if (askedCriteria(f.protocol, f.items[n]!, answersOf(f, s)).length) return { ...s, item: n, place: 'criteria', nudge: '' }
  }
  return s
}

/** Show another text at its first incomplete item, or the final check. */
export function show(f: Facts, s: State, at: number): State {
  const calm: State = { ...s, at, item: 0, row: 0, place: 'criteria', selection: emptySelection, finding: null, anchor: null, passage: null, pending: null, nudge: '' }
  if (isLastLook(f, calm)) return { ...calm, before: s.before ?? s.answers }
  const open = firstOpen(f.protocol, f.items, answersOf(f, calm))
  return afterShowing(f, { ...calm, item: Math.max(0, open) })
}

/** Enter: name what is missing, or move to the next text, then to the final check, then complete the page. */
export function next(f: Facts, s: State): State {
  if (s.pending && s.pending.ask !== 'reason') return { ...s, nudge: `Choose a ${s.pending.ask} of the mark, or press Escape to remove the mark.` }
  const look = isLastLook(f, s)
  const open = look ? s.answers.findIndex((a) => !isDone(f, a)) : isDone(f, s.answers[s.at]!) ? -1 : s.at
  if (open >= 0) {
    const opened = look ? show(f, s, open) : s
    const item = firstOpen(f.protocol, f.items, answersOf(f, opened), look ? 0 : s.item)
    return { ...opened, item, place: 'criteria', nudge: namesWhatLacks(f, answersOf(f, opened), item) }
  }
  const pending: State = { ...s, pending: null }
  if (look || f.page.texts.length === 1) return { ...pending, trail: [...s.trail, step(s)], complete: true, nudge: '' }
  const waits = (n: number) => !isDone(f, s.answers[n]!)
  const later = f.page.texts.findIndex((_, n) => n > s.at && waits(n))
  const to = later >= 0 ? later : f.page.texts.findIndex((_, n) => waits(n))
  return show(f, { ...pending, trail: [...s.trail, step(s)] }, to >= 0 ? to : f.page.texts.length)
}

function namesWhatLacks(f: Facts, answers: Answers, item: number): string {
  const open = askedCriteria(f.protocol, f.items[item]!, answers).filter((c) => lacks(c, saidOf(answers, c.key)))
  const missing = lacks(open[0]!, saidOf(answers, open[0]!.key))
  if (missing === 'reason') return `Reason required: ${open[0]!.name}. Press W.`
  if (missing === 'reason of a mark') return `Reason required for each mark: ${open[0]!.name}.`
  const group = f.items[item]!.group
  return `${group ? `${group.name}: ${open.map((c) => c.name).join(', ')}` : open[0]!.name} is not answered yet.`
}
