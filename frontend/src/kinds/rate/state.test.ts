import { describe, expect, it } from 'vitest'
import { criterion, guideline, m3, page, protocol, TEXTS } from '../../rating/samples.ts'
import type { Protocol } from '../../rating/protocol.ts'
import { match } from '../../work/keymap.ts'
import { sharedBindings } from '../../work/keys.ts'
import { saidOf } from './answers.ts'
import { bindings } from './keys.ts'
import { answersOf, begin, facts, isLastLook, toDraft, markedCriterion, type Facts, type State } from './focusTarget.ts'
import { reduce, type Action } from './state.ts'
import { fromValue, toValue } from './stored.ts'

/** Plays keys as the page gives them to the reducer; "f c" jumps, "S→" extends. Counts presses. */
function play(f: Facts, keys: string, from: State = begin(f)): State & { presses: number } {
  let s = from
  const all = keys.split(' ').filter(Boolean)
  for (const key of all) {
    const c = s.selection.cursor
    const source = s.place === 'source', text = s.place === 'summary'
    const action: Action | undefined = s.finding && key.length === 1 ? { do: 'letter', letter: key, extend: false }
      : /^\d$/.test(key) ? { do: 'digit', digit: Number(key) }
      : ({
          enter: { do: 'next' }, z: { do: 'undo' }, t: { do: 'place', place: 'summary' }, r: { do: 'place', place: 'source' },
          f: { do: 'find', extend: false }, '→': text ? { do: 'word', to: c + 1, extend: false } : { do: 'step', by: 1, across: true },
          'S→': { do: 'word', to: c + 1, extend: true }, '←': { do: 'step', by: -1, across: true },
          '↓': source ? { do: 'sentence', to: s.sentence + 1, extend: false } : { do: 'step', by: 1 }, '↑': { do: 'step', by: -1 },
          'S↓': { do: 'sentence', to: s.sentence + 1, extend: true }, q: { do: 'quote' }, h: { do: 'mark' }, back: { do: 'remove here' },
          esc: { do: 'let go' },
        } as Record<string, Action>)[key]
    if (!action) throw new Error(key)
    s = reduce(f, s, action)
  }
  return { ...s, presses: all.length }
}
const of = (p: Protocol, texts?: string[]) => facts(page(p, texts))
const said = (f: Facts, s: State, row = 0) => Object.fromEntries(Object.entries(answersOf(f, s, row)).map(([k, a]) => [k, a.na ? 'N/A' : a.value]))

describe('the guideline protocol', () => {
  const f = of(guideline)
  it('takes four presses a summary, and one for the last look', () => {
    const s = play(f, '5 4 1 enter 2 2 2 enter')
    expect(isLastLook(f, s)).toBe(true)
    expect(said(f, s, 0)).toEqual({ coherence: '5', relevance: '4', consistency: 'Consistent' })
    expect(play(f, 'enter', s).complete).toBe(true)
  })
  it('moves to the next that is not answered, and stays at the last', () => {
    const s = play(f, '↓ 3 ↑ ↑ 2')
    expect(markedCriterion(f, s)?.key).toBe('consistency')
    expect(markedCriterion(f, play(f, '2', s))?.key).toBe('consistency')
  })
  it('names what is missing on Enter', () => {
    const s = play(f, '5 ↓ 1 enter')
    expect(s).toMatchObject({ at: 0, item: 1, nudge: 'Relevance is not answered yet.' })
  })
  it('ignores a key off the scale, and takes N/A as a value', () => {
    expect(said(f, play(f, '7'))).toEqual({})
    expect(said(f, play(f, '0 0 0'))).toEqual({ coherence: 'N/A', relevance: 'N/A', consistency: 'N/A' })
  })
  it('undoes step by step, across texts', () => {
    const s = play(f, '5 4 1 enter z')
    expect(s.at).toBe(0)
    expect(said(f, play(f, 'z', s))).toEqual({ coherence: '5', relevance: '4' })
  })
  it('gives the keys back to the questions when another text comes', () => {
    const before = play(f, '5 4 1 r')
    expect(before.place).toBe('source')
    expect(play(f, 'enter', before)).toMatchObject({ at: 1, item: 0, place: 'criteria' })
    expect(play(f, 'enter 2 t', before).place).toBe('summary')
  })
  it('shows in the last look what an answer was before', () => {
    const s = play(f, '5 4 1 enter 2 2 2 enter → 1')
    expect(s.before![0]!.relevance!.value).toBe('4')
    expect(said(f, s)).toMatchObject({ relevance: '1' })
    expect(s.item).toBe(1)
  })
  it('quotes for the marked criterion, from the text and from one study', () => {
    const s = play(f, '5 4 2 t f e S→ q r ↓ q ↓ S↓ q')
    const quotes = saidOf(answersOf(f, s), 'consistency').quotes
    expect(quotes.map((q) => [q.in, q.study])).toEqual([['summary', -1], ['source', 0], ['source', 1]])
    const value = toValue(f.page, s.answers)
    expect(value.texts[0]!.said[2]!.quotes!.map((q) => q.quote)).toEqual([
      'equally effective', 'It costs less.', 'Success rates were higher with drug B at night. TGF-𝛽2 was raised 𝑛 = 40 times.',
    ])
    expect(saidOf(answersOf(f, play(f, 'back', s)), 'consistency').quotes).toHaveLength(2)
  })
  it('goes on where a draft was left, and from a value', () => {
    const s = play(f, '5 4 1 enter 2')
    expect(begin(f, structuredClone(toDraft(s)))).toMatchObject({ at: 1, answers: s.answers })
    const value = toValue(f.page, play(f, '5 4 1 enter 0 2 2 enter').answers)
    expect(toValue(f.page, fromValue(f.page, value))).toEqual(value)
  })
})

describe("M3's protocol", () => {
  const f = of(m3)
  const one = of(m3, [TEXTS[0]!])
  it('takes seven presses where all is as in the target', () => {
    const s = play(one, '1 1 1 1 1 1 enter')
    expect(s.complete).toBe(true)
    expect(s.presses).toBe(7)
    expect(said(one, s)).toMatchObject({ claim: 'yes', population: 'same', comparator: 'N/A', polarity: 'same', hallucination: 'none', repetition: 'none' })
  })
  it('takes one more for a slot that differs', () => {
    const s = play(one, '1 2 5 1 1 1 1 1 enter')
    expect(s.complete).toBe(true)
    expect(said(one, s)).toMatchObject({ population: 'differs', intervention: 'same', outcome: 'differs' })
  })
  it('takes three more for a hallucination of one word', () => {
    const s = play(one, '1 1 1 1 t f y h 1 enter')
    expect([s.complete, s.presses]).toEqual([true, 10])
    expect(toValue(one.page, s.answers).texts[0]!.said.find((x) => x.criterion === 'hallucination')).toMatchObject({
      value: 'marked', spans: [{ start: 44, end: 49, quote: 'young', category: 'hallucination', severity: '', reason: '' }],
    })
  })
  it('fills in what follows from no claim, and takes it back with it', () => {
    const s = play(one, '2 1 1 1 enter')
    expect([s.complete, s.presses]).toEqual([true, 5])
    expect(answersOf(one, s).polarity).toMatchObject({ na: true, prefilled: true })
    expect(answersOf(one, s).modality).toMatchObject({ value: 'differs', prefilled: true })
    const again = play(one, '2 ↑ ↑ 1')
    expect(said(one, again)).toMatchObject({ polarity: null, modality: null })
  })
  it('fills in the same modality where the target has no evidence either', () => {
    const none = facts({ ...one.page, target: { ...one.page.target!, modality: 'no evidence' } })
    expect(answersOf(none, play(none, '2')).modality).toMatchObject({ value: 'same', prefilled: true })
  })
  it('lets a person override what is filled in', () => {
    const s = play(one, '2 1 ↑ ↑ 2 ↑ 1')
    expect(answersOf(one, s).polarity).toMatchObject({ value: expect.stringMatching(/same|differs/), na: false, prefilled: false })
  })
  it('refuses "none" while words are marked, and takes a mark back', () => {
    const s = play(f, 't f y h')
    expect(said(f, s)).toMatchObject({ hallucination: 'marked' })
    const back = play(f, 'back', s)
    expect(said(f, back)).toMatchObject({ hallucination: null })
    const at = reduce(f, reduce(f, s, { do: 'go', item: 4 }), { do: 'digit', digit: 1 })
    expect(at.nudge).toMatch(/Remove the marks/)
    expect(said(f, at)).toMatchObject({ hallucination: 'marked' })
  })
  it('marks by code points after a letter beyond the first plane', () => {
    const s = play(f, '1 1 1 1 1 1 enter 1 1 1 1 t f s h')
    const span = toValue(f.page, s.answers).texts[1]!.said.find((x) => x.criterion === 'hallucination')!.spans![0]!
    expect([...TEXTS[1]!].slice(span.start, span.end).join('')).toBe('support')
    expect(span.start).toBe(TEXTS[1]!.indexOf('support') - 1)
  })
  it('does not ask for what is not required', () => expect(said(one, play(one, '1 1 1 1 1 1 enter')).comment).toBeUndefined())
})

describe('other criteria', () => {
  it('asks a mark for its category, its severity and its reason', () => {
    const scale = {
      type: 'spans' as const, options: [{ value: 'omission', label: 'Omission', anchor: 'x' }, { value: 'addition', label: 'Addition', anchor: 'y' }],
      severities: [{ value: 'minor', label: 'Minor', anchor: 'x' }, { value: 'major', label: 'Major', anchor: 'y' }], reason: 'required' as const,
    }
    const f = of(protocol([criterion('errors', { na: false, scale })]), [TEXTS[0]!])
    let s: State = play(f, 't f y h')
    expect(s.pending?.ask).toBe('category')
    expect(play(f, 'enter', s).nudge).toMatch(/^Choose a category/)
    s = play(f, '2 1', s)
    expect(s.pending?.ask).toBe('reason')
    expect(play(f, 'enter', s).nudge).toMatch(/^Reason required for each mark/)
    s = reduce(f, s, { do: 'mark reason', text: 'no such word' })
    expect(answersOf(f, s).errors!.spans[0]).toMatchObject({ category: 'addition', severity: 'minor', reason: 'no such word' })
    expect(play(f, 'enter', s).complete).toBe(true)
    expect(said(f, play(f, 'f o h esc', s)).errors).toBe('marked')
  })
  it('asks for why where the protocol requires it', () => {
    const f = of(protocol([criterion('fluency', { reason: { ask: 'offered', required_at: ['1'] } }), criterion('focus')]), [TEXTS[0]!])
    const s = play(f, '1')
    expect(s).toMatchObject({ item: 0, nudge: 'Reason required: Fluency. Press W.' })
    expect(play(f, '1 ↓ 2 enter').complete).toBe(false)
    expect(play(f, '↓ 2 enter', reduce(f, s, { do: 'why', criterion: 'fluency', text: 'broken' })).complete).toBe(true)
  })
  it('shows a criterion only after the answer it hangs on, and sends no other', () => {
    const f = of(protocol([criterion('a'), criterion('b', { shown_if: { criterion: 'a', values: ['1'] } }), criterion('c')]), [TEXTS[0]!])
    expect(markedCriterion(f, play(f, '2'))?.key).toBe('c')
    expect(markedCriterion(f, play(f, '1'))?.key).toBe('b')
    expect(toValue(f.page, play(f, '1 4 ↑ ↑ 2 1').answers).texts[0]!.said.map((x) => x.criterion)).toEqual(['a', 'c'])
  })
  it('keeps several codes of one criterion in the order of their letters', () => {
    const f = of(protocol([criterion('faults', { scale: { type: 'multi-label', options: [{ value: 'z', label: 'z', anchor: '' }, { value: 'a', label: 'a', anchor: '' }] } })]), [TEXTS[0]!])
    expect(said(f, play(f, '1 2'))).toEqual({ faults: 'a; z' })
    expect(said(f, play(f, '1 2 1 2'))).toEqual({ faults: null })
  })
  it('slides by tenths and by steps', () => {
    const f = of(protocol([criterion('score', { scale: { type: 'slider', options: [], minimum: 0, maximum: 100, step: 5 } })]), [TEXTS[0]!])
    const s = play(f, '7')
    expect(said(f, s)).toEqual({ score: '70' })
    expect(said(f, reduce(f, s, { do: 'slide', by: -1 }))).toEqual({ score: '65' })
    const without = of(protocol([criterion('score', { na: false, scale: { type: 'slider', options: [], minimum: 20, maximum: 120, step: 5 } })]), [TEXTS[0]!])
    expect([said(f, play(f, '0')), said(without, play(without, '0'))]).toEqual([{ score: 'N/A' }, { score: '20' }])
  })
  it('slides on whole steps within the range, also from the middle', () => {
    const odd = of(protocol([criterion('score', { scale: { type: 'slider', options: [], minimum: 0, maximum: 5, step: 1 } })]), [TEXTS[0]!])
    expect(said(odd, reduce(odd, begin(odd), { do: 'slide', by: 1 }))).toEqual({ score: '3' })
    const short = of(protocol([criterion('score', { scale: { type: 'slider', options: [], minimum: 0, maximum: 10, step: 3 } })]), [TEXTS[0]!])
    expect(said(short, reduce(short, play(short, '9'), { do: 'slide', by: 9 }))).toEqual({ score: '9' })
  })
  it('takes letters that are typed as one step of undo', () => {
    const f = of(m3, [TEXTS[0]!])
    let s = begin(f)
    for (const text of ['a', 'ab', 'abc']) s = reduce(f, s, { do: 'write', criterion: 'comment', text })
    expect(s.trail).toHaveLength(1)
    expect(said(f, reduce(f, s, { do: 'undo' })).comment).toBeUndefined()
  })
})

describe('the keys', () => {
  it('collide with no key of the shell', () => {
    const all = [...bindings, ...sharedBindings].flatMap((b) => b.keys)
    expect(new Set(all).size).toBe(all.length)
  })
  it('are all inert in a field for text', () => {
    for (const b of bindings) for (const key of b.keys) expect(match(bindings, { key }, { place: 'text field', singleKeys: true })).toBeNull()
  })
})

it('loses no answer and never throws, whatever is pressed', () => {
  let seed = 7
  const random = (n: number) => (seed = (seed * 48271) % 2147483647) % n
  const keys = ['1', '2', '3', '0', 'enter', 'z', 't', 'r', 'f', '→', 'S→', '↓', 'S↓', '↑', 'q', 'h', 'back', 'esc']
  for (const p of [guideline, m3]) {
    const f = of(p)
    for (let run = 0; run < 60; run++) {
      let s = begin(f)
      for (let n = 0; n < 60 && !s.complete; n++) s = play(f, keys[random(keys.length)]!, s)
      const value = toValue(f.page, s.answers)
      for (const [n, text] of value.texts.entries()) for (const said of text.said) {
        for (const x of said.spans!) expect([...TEXTS[n]!].slice(x.start, x.end).join('')).toBe(x.quote)
        expect(said.value === 'marked').toBe(said.spans!.length > 0)
        expect(said.na || said.value).toBeTruthy()
        if (said.na) expect(said.value).toBe('')
      }
      const required = p.criteria.filter((c) => c.required).map((c) => c.key)
      if (s.complete) for (const text of value.texts) expect(text.said.map((x) => x.criterion)).toEqual(required)
    }
  }
})
