import { expect, it } from 'vitest'
import { facts, placesOf } from '../lanes.ts'
import { begin, reduce, resumed, spansAt, step, toValue, type Action, type Card, type State } from './state.ts'

const TEXT = 'Vitamin K reduced loss of bone density in 😀 women .'
const f = facts(TEXT)
const word = (text: string) => f.words.findIndex((w) => TEXT.slice(w.start, w.end) === text)
const start = (more: Partial<Card> = {}) => begin(f, { value: null, suggestions: null, ...more })
const go = (state: State, ...actions: Action[]) => actions.reduce((s, a) => reduce(f, s, a), state)
const to = (text: string, extend = false): Action => ({ do: 'move', to: word(text), extend })
const quotes = (state: State) => state.spans.map((s) => `${s.element} ${TEXT.slice(s.start, s.end)}`)
const outcome = go(start(), to('loss'), to('density', true), { do: 'mark', element: 'o' })
const at = (text: string) => ({ start: TEXT.indexOf(text), end: TEXT.indexOf(text) + text.length })

it('marks the selection, or the word at the cursor', () => {
  expect(quotes(outcome)).toEqual(['o loss of bone density'])
  expect(quotes(go(outcome, to('women'), { do: 'mark', element: 'p' }))).toEqual(['o loss of bone density', 'p women'])
  expect(go(outcome, to('loss'), to('density', true), { do: 'mark', element: 'o' }).nudge).toBe('These words are marked as outcome already.')
})

it('lets spans nest and cross', () => {
  const nested = go(outcome, to('bone'), { do: 'mark', element: 'p' })
  const crossing = go(nested, to('density'), to('women', true), { do: 'mark', element: 'i' })
  expect(quotes(crossing)).toEqual(['o loss of bone density', 'p bone', 'i density in 😀 women'])
  expect(spansAt(crossing, f.words[word('density')]).map((s) => s.element)).toEqual(['i', 'o'])
})

it('chooses the spans at the cursor, innermost first, and then leaves', () => {
  const both = go(outcome, to('bone'), { do: 'mark', element: 'p' }, { do: 'cycle', back: false })
  expect(both.spans.find((s) => s.id === both.active)?.element).toBe('p')
  const second = go(both, { do: 'cycle', back: false })
  expect(second.spans.find((s) => s.id === second.active)?.element).toBe('o')
  expect(go(second, { do: 'cycle', back: false }).active).toBeNull()
})

it('moves the end, the start and the whole of the chosen span', () => {
  const held = go(outcome, to('bone'), { do: 'cycle', back: false })
  const shorter = go(held, { do: 'move', to: held.selection.cursor - 1, extend: true })
  expect(quotes(shorter)).toEqual(['o loss of bone'])
  const later = go(shorter, { do: 'edge' }, { do: 'move', to: shorter.selection.cursor + 1, extend: true })
  expect(quotes(later)).toEqual(['o of bone'])
  expect(quotes(go(later, { do: 'edge' }, { do: 'move', to: later.selection.cursor + 1, extend: true }))).toEqual(['o bone density'])
  expect(quotes(go(held, { do: 'adjust', edge: 'end', by: -1 }))).toEqual(['o loss of bone densit'])
  expect(quotes(go(held, { do: 'pull', edge: 'start', word: word('bone') }))).toEqual(['o bone density'])
})

it('stops at the ends of the text and never makes a span empty', () => {
  const first = go(start(), to('Vitamin'), { do: 'mark', element: 'i' }, { do: 'cycle', back: false }, { do: 'edge' })
  const stopped = go(first, { do: 'move', to: -1, extend: true })
  expect([quotes(stopped), stopped.nudge]).toEqual([['i Vitamin'], 'The span cannot get smaller or move further.'])
  expect(quotes(go(first, { do: 'move', to: 1, extend: true }))).toEqual(['i Vitamin'])
})

it('passes over punctuation with plain arrows, and stops there with Shift', () => {
  const women = go(start(), to('women'))
  expect(go(women, { do: 'move', to: word('women') + 1, extend: false }).selection.cursor).toBe(word('women'))
  expect(quotes(go(women, { do: 'move', to: word('women') + 1, extend: true }, { do: 'mark', element: 'p' }))).toEqual(['p women .'])
})

it('marks every selection by mouse while a pen is chosen', () => {
  const pen = go(start(), { do: 'press', element: 'i' })
  const drawn = go(pen, { do: 'drag', range: at('Vitamin K'), characters: false, keepEarlier: false })
  expect([quotes(drawn), drawn.pen]).toEqual([['i Vitamin K'], 'i'])
  expect(go(drawn, { do: 'press', element: 'i' }).pen).toBeNull()
})

it('changes the element of the chosen span, deletes it, and undoes each step', () => {
  const held = go(outcome, to('bone'), { do: 'cycle', back: false })
  const population = go(held, { do: 'mark', element: 'p' })
  expect(quotes(population)).toEqual(['p loss of bone density'])
  const none = go(population, { do: 'remove' })
  expect([quotes(none), none.rejected]).toEqual([[], []])
  expect(quotes(go(none, { do: 'undo' }))).toEqual(['p loss of bone density'])
  expect(quotes(go(none, { do: 'undo' }, { do: 'undo' }, { do: 'undo' }))).toEqual([])
})

it('counts a suggestion only once it is accepted, and records what became of it', () => {
  const suggestions = (['Vitamin K', 'loss', 'women'] as const).map((text, n) => ({ element: (['i', 'o', 'p'] as const)[n]!, ...pointsOf(text) }))
  const shown = start({ suggestions })
  expect(toValue(TEXT, shown).intervention_spans).toEqual([])
  const first = go(shown, { do: 'suggestion', back: false })
  expect(first.spans.find((s) => s.id === first.active)?.element).toBe('i')
  const second = go(first, { do: 'accept' })
  const third = go(second, { do: 'move', to: second.selection.cursor + 1, extend: true }, { do: 'suggestion', back: false })
  const asked = go(third, { do: 'next' })
  expect([asked.complete, asked.nudge]).toEqual([false, '1 suggestion is undecided and will not count. Press Enter again to go on.'])
  const done = go(third, { do: 'reject' })
  expect(toValue(TEXT, done)).toEqual({
    population_spans: [],
    intervention_spans: [{ ...pointsOf('Vitamin K'), quote: 'Vitamin K', suggestion: 'accepted' }],
    outcome_spans: [{ ...pointsOf('loss of'), quote: 'loss of', suggestion: 'edited' }],
    rejected_spans: [{ ...pointsOf('women'), quote: 'women', element: 'p' }],
  })
  expect(go(done, { do: 'next' }).complete).toBe(true)
})

/** Code points, which differ from UTF-16 units after the emoji. */
function pointsOf(text: string) {
  const [before] = TEXT.split(text)
  return { start: [...before!].length, end: [...before!].length + [...text].length }
}

it('asks once before it stores that nothing is named', () => {
  const asked = go(start(), { do: 'next' })
  expect([asked.complete, asked.warned]).toEqual([false, true])
  expect(go(asked, { do: 'next' }).complete).toBe(true)
})

it('continues with the answer or the draft', () => {
  const value = toValue(TEXT, outcome)
  expect(quotes(start({ value }))).toEqual(quotes(outcome))
  const again = resumed(JSON.parse(JSON.stringify({ said: step(outcome), trail: outcome.trail })))!
  expect([quotes(again), quotes(go(again, { do: 'undo' }))]).toEqual([quotes(outcome), []])
  expect(resumed(null)).toBeNull()
})

it('splits the lane of an element where its spans overlap', () => {
  const spans = [at('loss of bone density'), at('bone'), at('women')].map((range, id) => ({ id, element: 'o' as const, origin: 'own' as const, ...range }))
  expect([...placesOf(spans).values()].map((p) => p.half)).toEqual(['upper', 'lower', 'none'])
  expect([...placesOf(spans.map((s, id) => ({ ...s, element: (['p', 'i', 'o'] as const)[id]! }))).values()].map((p) => p.half)).toEqual(['none', 'none', 'none'])
})
