import { expect, it } from 'vitest'
import { sharedBindings } from '../../work/keys.ts'
import { sectionsOf } from '../sections.ts'
import { nowhere } from '../tutorial.ts'
import { CLASSES, MARKS } from './choices.ts'
import { bindings } from './keys.ts'
import { answered, inWords, Marking, type Card } from './state.ts'

const card = (task: Card['task'], count = 3, value: Card['value'] = null): Card => ({
  ...nowhere(1), kind: 'sentences', pmid: '1', title: 'Nepralin', task, value,
  sentences: Array.from({ length: count }, (_, n) => ({ number: n + 1, text: `Sentence ${n + 1}.`, section: n < 2 ? 'AIM' : 'RESULTS' })),
})
const pressed = (marking: Marking, keys: string) => [...keys].reduce((m, key) => m.press(key), marking)

it('takes one key a sentence, and Enter at the end: 12 sentences are 13 presses', () => {
  const begun = Marking.begin(card('sentence_classes', 12), null)
  const said = pressed(begun, '123333444466')
  expect([said.at, said.complete, said.missing]).toEqual([11, false, 0])
  expect(said.nudge).toContain('Enter')
  const done = said.next()
  expect(done.complete).toBe(true)
  expect(done.value.sentence_classes!.map((one) => one.number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
  expect(inWords(done.value)).toBe('1 Background, 1 Goal, 4 Methods, 4 Detailed findings, 2 Effect')
})

it('goes to a sentence without a class before it ends', () => {
  const marking = Marking.begin(card('sentence_classes'), null).press('1').move(1).press('6').next()
  expect([marking.at, marking.complete, marking.nudge]).toEqual([1, false, 'One sentence has no class yet.'])
  expect(marking.press('2').next().complete).toBe(true)
})

it('takes what is neither picked nor refused for no evidence, and asks twice where nothing is', () => {
  const begun = Marking.begin(card('evidence_sentences'), null)
  const value = begun.move(1).press('p').press('4').next().value
  expect(value.evidence_sentences).toEqual({
    dropped: '', sentences: [{ number: 1, said: 'neither' }, { number: 2, said: 'picked' }, { number: 3, said: 'needs aggregation' }],
  })
  expect(inWords(value)).toBe('1 picked, 1 refused: needs aggregation')
  expect([begun.next().complete, begun.next().next().complete, begun.press('p').press('0').next().complete]).toEqual([false, true, true])
})

it('drops a whole review, takes that back, and says nothing of its sentences then', () => {
  const dropped = Marking.begin(card('evidence_sentences'), null).press('p').drop()
  expect(dropped.next().value).toEqual({ evidence_sentences: { dropped: 'too many studies', sentences: [] } })
  expect([dropped.drop().dropped, dropped.press('p').dropped, dropped.undo().dropped]).toEqual([false, false, false])
  expect(Marking.begin(card('sentence_classes'), null).drop().dropped).toBe(false)
})

it('undoes one sentence at a time, and stays within the abstract', () => {
  const begun = Marking.begin(card('sentence_classes'), null)
  const twice = begun.press('1').press('2')
  expect([twice.undo().said, twice.undo().at, twice.undo().undo().canUndo]).toEqual([['BACKGROUND', null, null], 1, false])
  expect([begun.move(-1).at, begun.move(9).at, begun.press('p').said]).toEqual([0, 2, [null, null, null]])
})

it('begins with its draft, else with the answer of the card, by the numbers of the sentences', () => {
  const value = { sentence_classes: [{ number: 3, said: 'EFFECT' as const }, { number: 1, said: 'GOAL' as const }] }
  expect(answered(card('sentence_classes', 3, value))).toEqual(['GOAL', null, 'EFFECT'])
  expect(Marking.begin(card('sentence_classes', 3, value), { said: ['ETC', null, null], at: 1, dropped: false }).draft).toEqual({ said: ['ETC', null, null], at: 1, dropped: false })
  expect(Marking.begin(card('sentence_classes', 3), { said: ['ETC'], at: 0, dropped: false }).said, 'a draft of another text').toEqual([null, null, null])
})

it('keeps sentences under their headings', () => {
  expect(sectionsOf(card('sentence_classes', 4).sentences).map((s) => [s.title, s.first, s.sentences.length])).toEqual([['AIM', 0, 2], ['RESULTS', 2, 2]])
})

it('has a key of its own for everything, and none that all tasks have', () => {
  for (const choices of [CLASSES, MARKS]) expect(new Set(choices.map((c) => c.key)).size).toBe(choices.length)
  const keys = bindings.flatMap((b) => b.keys)
  expect(new Set(keys).size).toBe(keys.length)
  expect(keys.filter((key) => sharedBindings.some((b) => b.keys.includes(key)))).toEqual([])
  for (const c of [...CLASSES, ...MARKS]) expect(keys).toContain(c.key.toLowerCase())
})
