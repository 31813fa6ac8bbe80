/** Rating the texts of one page, as a pure reducer. */

import type { Range } from '../../text/offsets.ts'
import { clear, drag, jump, moveTo, tap, type Selection } from '../../text/selection.ts'
import { saidOf } from './answers.ts'
import { choose, digit, rest, slide, type By } from './choosing.ts'
import { letAllGo, mark, markReason, passage, pendingDigit, quote, removeHere, sentence, withoutQuote, withoutSpan } from './marking.ts'
import { answersOf, begin, isLastLook, withAnswers, rowOf, step, withSaid, type Facts, type State } from './focusTarget.ts'
import { move, next, show } from './navigation.ts'

export type Action =
  | { do: 'digit'; digit: number }
  | { do: 'choose'; criterion: string; value: string | null; na: boolean; by: By; row?: number }
  | { do: 'rest' }
  | { do: 'slide'; by: number }
  | { do: 'write'; criterion: string; text: string; row?: number }
  | { do: 'why'; criterion: string; text: string }
  | { do: 'go'; item?: number; row?: number }
  | { do: 'step'; by: 1 | -1; across?: boolean }
  | { do: 'text'; at: number }
  | { do: 'place'; place: State['place'] }
  | { do: 'word'; to: number; extend: boolean }
  | { do: 'find'; extend: boolean }
  | { do: 'letter'; letter: string; extend: boolean }
  | { do: 'tap'; word: number }
  | { do: 'drag'; range: Range; characters: boolean }
  | { do: 'sentence'; to: number; extend: boolean }
  | { do: 'passage'; study: number; range: Range; characters: boolean }
  | { do: 'let go' }
  | { do: 'quote' }
  | { do: 'mark' }
  | { do: 'mark reason'; text: string }
  | { do: 'ask reason'; criterion: string; span: number }
  | { do: 'remove'; criterion: string; what: 'span' | 'quote'; index: number }
  | { do: 'remove here' }
  | { do: 'next' }
  | { do: 'undo' }

export function reduce(f: Facts, s: State, action: Action): State {
  // A complete answer is being stored; ignore further keys.
  if (s.complete) return s
  const typing = action.do === 'write' || action.do === 'why' ? `${action.do} ${action.criterion} ${rowOf(f, s)}` : ''
  const after = act(f, s, action)
  if (after === s) return s
  return typing && typing === s.typing ? { ...after, trail: s.trail } : { ...after, typing }
}

function act(f: Facts, s: State, action: Action): State {
  const select = (selection: Selection): State => ({ ...s, selection, finding: null, passage: null, anchor: null, nudge: '' })
  const own = f.words[s.at] ?? []
  switch (action.do) {
    case 'digit':
      return s.pending ? pendingDigit(f, s, action.digit) : digit(f, s, action.digit)
    case 'choose':
      return choose(f, s, action.criterion, action.value, action.na, action.by, action.row)
    case 'rest':
      return rest(f, s)
    case 'slide':
      return slide(f, s, action.by)
    case 'write': {
      const answers = answersOf(f, s, action.row)
      return withAnswers(f, s, withSaid(answers, action.criterion, { value: action.text === '' ? null : action.text, na: false, prefilled: false }), action.row)
    }
    case 'why':
      return withAnswers(f, s, withSaid(answersOf(f, s), action.criterion, { reason: action.text }))
    case 'go':
      return { ...s, item: action.item ?? s.item, row: action.row ?? s.row, nudge: s.item === (action.item ?? s.item) ? s.nudge : '' }
    case 'step':
      return move(f, s, action.by, action.across ?? false)
    case 'text':
      return action.at === s.at ? s : show(f, { ...s, trail: [...s.trail, step(s)] }, action.at)
    case 'place':
      return { ...s, place: action.place, finding: null }
    case 'word':
      return select(moveTo(s.selection, own, action.to, action.extend))
    case 'find':
      return { ...s, finding: { extend: action.extend }, nudge: 'Find: type the first letter of a word.' }
    case 'letter':
      return select(jump(s.selection, f.page.texts[s.at]?.text ?? '', own, action.letter, action.extend || (s.finding?.extend ?? false)))
    case 'tap':
      return select(tap(s.selection, own, action.word))
    case 'drag':
      return select(drag(clear(s.selection), own, action.range, { characters: action.characters }))
    case 'sentence':
      return sentence(f, s, action.to, action.extend)
    case 'passage':
      return passage(f, s, action.study, action.range, action.characters)
    case 'let go':
      return letAllGo(f, s)
    case 'quote':
      return quote(f, s)
    case 'mark':
      return mark(f, s)
    case 'mark reason':
      return markReason(f, s, action.text)
    case 'ask reason':
      return { ...s, pending: { criterion: action.criterion, span: action.span, ask: 'reason' } }
    case 'remove':
      return action.what === 'span' ? withoutSpan(f, s, action.criterion, action.index) : withoutQuote(f, s, action.criterion, action.index)
    case 'remove here':
      return removeHere(f, s)
    case 'next':
      return next(f, s)
    case 'undo': {
      const last = s.trail.at(-1)
      return last ? begin(f, { ...last, before: isLastLook(f, last) ? s.before : null, trail: s.trail.slice(0, -1) }) : s
    }
  }
}
