/** From one thing that is asked to the next, from text to text, to the last look and away. Pure. */

import { nothing } from '../../text/selection.ts'
import { asked, firstOpen, lacks, saidOf, type Answers } from './answers.ts'
import { answersOf, columns, isDone, isLastLook, shown, step, type Facts, type State } from './place.ts'

/** On to what is missing next; stays where nothing is, so that the last one can still be given evidence. */
export function onward(f: Facts, s: State): State {
  if (isLastLook(f, s)) return s
  const here = asked(f.protocol, f.items[s.item]!, answersOf(f, s)).find((c) => lacks(c, saidOf(answersOf(f, s), c.key)))
  if (here && lacks(here, saidOf(answersOf(f, s), here.key)).startsWith('reason')) return { ...s, nudge: `Say why: ${here.name}. Press W.` }
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
    if (asked(f.protocol, f.items[n]!, answersOf(f, s)).length) return { ...s, item: n, place: 'criteria', nudge: '' }
  }
  return s
}

/** Shows another text, or the last look, from the first thing that is missing there. */
export function show(f: Facts, s: State, at: number): State {
  const calm: State = { ...s, at, item: 0, row: 0, place: 'criteria', selection: nothing, finding: null, anchor: null, passage: null, pending: null, nudge: '' }
  if (isLastLook(f, calm)) return { ...calm, before: s.before ?? s.answers }
  const open = firstOpen(f.protocol, f.items, answersOf(f, calm))
  return shown(f, { ...calm, item: Math.max(0, open) })
}

/** Enter: names what is missing, or goes on to the next text, to the last look, and from there away. */
export function next(f: Facts, s: State): State {
  if (s.pending && s.pending.ask !== 'reason') return { ...s, nudge: `Choose a ${s.pending.ask} of the mark, or Escape takes the mark back.` }
  const look = isLastLook(f, s)
  const open = look ? s.answers.findIndex((a) => !isDone(f, a)) : isDone(f, s.answers[s.at]!) ? -1 : s.at
  if (open >= 0) {
    const there = look ? show(f, s, open) : s
    const item = firstOpen(f.protocol, f.items, answersOf(f, there), look ? 0 : s.item)
    return { ...there, item, place: 'criteria', nudge: namesWhatLacks(f, answersOf(f, there), item) }
  }
  const pending: State = { ...s, pending: null }
  if (look || f.page.texts.length === 1) return { ...pending, trail: [...s.trail, step(s)], complete: true, nudge: '' }
  const waits = (n: number) => !isDone(f, s.answers[n]!)
  const later = f.page.texts.findIndex((_, n) => n > s.at && waits(n))
  const to = later >= 0 ? later : f.page.texts.findIndex((_, n) => waits(n))
  return show(f, { ...pending, trail: [...s.trail, step(s)] }, to >= 0 ? to : f.page.texts.length)
}

function namesWhatLacks(f: Facts, answers: Answers, item: number): string {
  const open = asked(f.protocol, f.items[item]!, answers).filter((c) => lacks(c, saidOf(answers, c.key)))
  const what = lacks(open[0]!, saidOf(answers, open[0]!.key))
  if (what === 'reason') return `Say why: ${open[0]!.name}. Press W.`
  if (what === 'reason of a mark') return `Say why of each mark: ${open[0]!.name}.`
  const group = f.items[item]!.group
  return `${group ? `${group.name}: ${open.map((c) => c.name).join(', ')}` : open[0]!.name} is not answered yet.`
}
