import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import counterfactual from './index.ts'
import { check } from './checks.ts'
import { begin, checkDraft, entry, toDraft, reduce, type Action, type State } from './state.ts'
import task from './task.ts'
import { KINDS, REASONS, RULES, type Card, type Field, type Value } from './words.ts'

const TARGET = 'Nepralin reduces relapse.'
const NEGATED = 'Nepralin does not reduce relapse.'
const none = { assignment: 1, revision: 0, shown: 1, position: 1, unit: { id: 1, key: 'a', unit_name: 'a' }, answered_at: null, outcome: null, comment: '', flag: false, references: [] }
const card: Card = {
  ...none, kind: 'counterfactual', text: TARGET, cluster: 'a_0', pico: [], polarity: 'positive', modality: 'moderate', polarity_cue: [], modality_cue: [],
  asked: [
    { field: 'negation', should: '', drafts: [{ rule: 'not added', text: NEGATED }, { rule: 'antonym', text: 'Nepralin increases relapse.' }] },
    { field: 'modality', should: '', drafts: [] },
  ],
  hedges: [], boosters: [], value: null,
}
const acts = (...all: Action[]): State => all.reduce((state, action) => reduce(card, state, action), begin(card, null))
const type = (text: string): Action => ({ do: 'type', text })

describe('a target that is rewritten', () => {
  it('accepts a draft with one key, and goes on to the next kind', () => {
    const state = acts({ do: 'accept' })
    expect(state.said).toEqual({ negation: { text: NEGATED, origin: 'drafted', rule: 'not added', reason: '' } })
    expect([state.at, state.text, state.complete]).toEqual([1, TARGET, false])
  })

  it('tells an edited draft from what was written from the target', () => {
    const edited = acts({ do: 'choose', n: 1 }, type('Nepralin increases relapses.'))
    expect(entry(card, edited)).toMatchObject({ origin: 'edited', rule: 'antonym' })
    expect(entry(card, reduce(card, edited, type(NEGATED)))).toMatchObject({ origin: 'drafted', rule: 'not added' })
    const own = acts({ do: 'accept' }, type('Nepralin may reduce relapse.'))
    expect(entry(card, own)).toEqual({ text: 'Nepralin may reduce relapse.', origin: 'written', rule: '', reason: '' })
  })

  it('takes a reason in the place of a text, and is complete with the last kind', () => {
    const state = acts({ do: 'accept' }, { do: 'reasons' }, { do: 'choose', n: 1 })
    expect(state.complete).toBe(true)
    expect(state.said.modality).toEqual({ text: '', origin: '', rule: '', reason: 'no opposite' })
  })

  it('refuses the target itself and too many words in words, and a warning is no refusal', () => {
    expect(acts({ do: 'accept' }, { do: 'accept' }).nudge).toBe('Not accepted: same words as the target.')
    expect(acts(type(`${TARGET} a b c d e f`), { do: 'accept' }).nudge).toContain('6 words changed')
    const twin = acts({ do: 'accept' }, type(NEGATED))
    expect(checkDraft(card, twin).checks).toContainEqual({ says: 'same text as negation', is: 'odd' })
    expect(reduce(card, twin, { do: 'accept' }).complete).toBe(true)
  })

  it('undoes a step at a time, what was typed in one', () => {
    const typed = acts({ do: 'accept' }, type('a'), type('ab'))
    const back = reduce(card, typed, { do: 'undo' })
    expect([back.at, back.text]).toEqual([1, TARGET])
    expect(reduce(card, back, { do: 'undo' })).toMatchObject({ at: 0, text: NEGATED, said: {} })
  })

  it('begins with what it was left with, and with what was said of it', () => {
    const left = acts({ do: 'accept' }, type('ab'))
    expect(begin(card, toDraft(left))).toMatchObject({ at: 1, text: 'ab' })
    const value: Value = { ...left.said, modality: { text: '', origin: '', rule: '', reason: 'other' } }
    const again = begin({ ...card, value }, null)
    expect(again).toMatchObject({ at: 0, text: NEGATED, reasons: false })
    expect(reduce(card, again, { do: 'accept' }).complete).toBe(true)
    expect(reduce(card, again, { do: 'go', at: 1 })).toMatchObject({ reasons: true })
  })
})

interface Shared {
  checks: { kind: string; target: string; text: string; pico: Record<string, number[][]>; others: Record<string, string>; modality: Card['modality']; errors: string[]; warnings: string[] }[]
}
const shared = JSON.parse(readFileSync(new URL('../../../../tests/measures/word_edits.json', import.meta.url), 'utf8')) as Shared
const field = (kind: string) => kind.replace(' ', '_') as Field
/** As the server gives them; those that the shared cases need. */
const words = { hedges: ['may', 'possibly', 'suggest'], boosters: ['clearly', 'significantly'] }

it.each(shared.checks.map((one) => [`${one.kind}: ${one.text.slice(0, 30)}`, one] as const))('checks as the server does: %s', (_, one) => {
  const pico = Object.entries(one.pico).map(([element, ranges]) => ({
    element: element as 'p', form: 'explicit' as const, text: '', stands_for: '' as const, fragments: ranges.map(([start, end]) => ({ start: start!, end: end! })),
  }))
  const others = Object.fromEntries(Object.entries(one.others).map(([kind, text]) => [field(kind), text]))
  const { checks } = check({ ...card, ...words, text: one.target, pico, modality: one.modality }, field(one.kind), one.text, others)
  expect(checks.filter((c) => c.is === 'wrong').length > 0).toBe(one.errors.length > 0)
  if (!one.errors.length) expect(checks.filter((c) => c.is === 'odd')).toHaveLength(one.warnings.length)
})

it('has words for what is stored', () => {
  expect(Object.keys(KINDS)).toEqual([...counterfactual.fields])
  expect(Object.values(RULES).every(Boolean) && REASONS.length === 5).toBe(true)
  expect(task.inWords({ negation: { text: 'a', origin: 'written', rule: '', reason: '' }, modality: { text: '', origin: '', rule: '', reason: 'other' } })).toBe('1 text, 1 not applicable')
})
