import { expect, it } from 'vitest'
import { nowhere } from '../tutorial.ts'
import { inWords, Judging, mentions, TYPING, type Card, type Value } from './state.ts'

const card = (more: Partial<Card> = {}): Card => ({
  ...nowhere(1), kind: 'effect', intervention: 'nepralin', outcome: 'attacks', title: '', pmid: '1', year: null, is_review: false, suggested: null,
  sentences: Array.from({ length: 12 }, (_, n) => ({ number: n + 1, text: `Sentence ${n + 1}.`, section: '' })), ...more,
})
const begun = Judging.begin(card(), null)

it('is complete with a direction and a sentence, in either order', () => {
  const one = begun.choose('decreased')
  expect([one.complete, one.nudge]).toEqual([false, 'Which sentence shows it? Type its number.'])
  const done = one.type(3, 0)
  expect([done.complete, done.value]).toEqual([true, { effect_direction: 'decreased', effect_sentence: 3, suggestion: '' }])
  expect(begun.type(3, 0).choose('increased').value).toEqual({ effect_direction: 'increased', effect_sentence: 3, suggestion: '' })
})

it('reads two digits that follow each other, and waits only where a second can follow', () => {
  const one = begun.choose('decreased').type(1, 0)
  expect([one.complete, one.isTyping]).toEqual([false, true])
  expect(one.type(0, TYPING).value.effect_sentence).toBe(10)
  expect(one.rest().value.effect_sentence).toBe(1)
  expect(one.rest().complete).toBe(true)
  const late = one.type(2, TYPING + 1)
  expect([late.value.effect_sentence, late.complete]).toEqual([2, true])
  expect(begun.type(1, 0).type(3, 100).value.effect_sentence).toBe(3)
  expect(Judging.begin(card({ sentences: card().sentences.slice(0, 3) }), null).type(5, 0).nudge).toBe('This abstract has 3 sentences.')
})

it('says by one key that the effect is not reported', () => {
  const none = begun.type(0, 0)
  expect([none.complete, none.value]).toEqual([true, { effect_direction: 'not reported', effect_sentence: null, suggestion: '' }])
  expect(begun.type(4, 0).choose('not reported').value.effect_sentence).toBeNull()
})

it('moves by arrows, and Enter completes', () => {
  const moved = begun.choose('increased').move(1).move(1)
  expect([moved.complete, moved.sentence, moved.next().complete]).toEqual([false, 2, true])
  expect(begun.next().nudge).toBe('No direction yet: A, S, D or 0.')
  expect(moved.undo().sentence).toBe(1)
})

it('accepts a suggestion by Enter, and records a change', () => {
  const suggested = { probabilities: [0.9, 0.1, 0], direction: 'decreased' as const, sentence: 4, score: 0.03 }
  const shown = Judging.begin(card({ suggested }), null)
  expect(shown.next().value).toEqual({ effect_direction: 'decreased', effect_sentence: 4, suggestion: 'accepted' })
  expect(shown.choose('increased').next().value).toEqual({ effect_direction: 'increased', effect_sentence: 4, suggestion: 'edited' })
  expect(shown.choose('increased').pick(4).value.suggestion).toBe('edited')
})

it('begins with the draft or the answer', () => {
  const value = { effect_direction: 'increased' as const, effect_sentence: 2, suggestion: '' as const }
  expect(Judging.begin(card({ value }), null).next().value).toEqual(value)
  expect(Judging.begin(card({ value }), begun.choose('decreased').draft).draft).toEqual({ direction: 'decreased', sentence: null })
})

it('asks for the sentence of a direction that a model gave without one', () => {
  const shown = Judging.begin(card({ value: { effect_direction: 'increased' } as Value }), null)
  expect([shown.direction, shown.sentence, shown.nudge]).toEqual(['increased', null, 'Which sentence shows it? Type its number.'])
  expect(shown.next().complete).toBe(false)
  expect(shown.pick(3).value).toEqual({ effect_direction: 'increased', effect_sentence: 3, suggestion: '' })
})

it('finds the words of the pair, but not inside other words', () => {
  const named = { i: 'Nepralin', o: 'attacks' }
  expect(mentions('nepralin lowered attacks; counterattacks rose', named).map((m) => [m.element, m.start])).toEqual([['i', 0], ['o', 17]])
  expect(mentions('nothing', { i: '', o: '' })).toEqual([])
})

it('is said in words', () => {
  expect([inWords(null), inWords({ effect_direction: 'no difference', effect_sentence: 2 }), inWords({ effect_direction: 'not reported', effect_sentence: null })]).toEqual(['', '= no difference, sentence 2', '∅ not reported'])
})
