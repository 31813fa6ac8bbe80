import { describe, expect, it } from 'vitest'
import { changedAt, FILTERS, gateInWords, peopleOf, quietPeople, stateOf, type Row } from './rounds.ts'

const round = { id: 7, status: 'open' as const, purpose: 'gold standard' as const, assignments: 10, left: 4, people: 2, rolling: false, independent: true, designed: false, kept_blind: false, to_adjudicate: 0, quiet: [] as { name: string; quiet_days: number }[] }
const lead = { changes: true, curates: true, watches: true }
const viewer = { changes: false, curates: false, watches: false }
const shown = (change: object, reader = lead) => {
  const s = stateOf({ ...round, ...change }, reader)
  return [s.words, s.action, s.page, s.needs]
}

describe('the state of a round', () => {
  it('names what needs the lead, and the page where it is done', () => {
    expect(shown({ status: 'closed', to_adjudicate: 12 })).toEqual(['Contested', 'Adjudicate 12', 'rounds/7/adjudicate', true])
    expect(shown({ left: 0 })).toEqual(['Ready to close', 'Close round', 'rounds/7?close=1', true])
    expect(shown({ quiet: [{ name: 'Ben', quiet_days: 4 }] })).toEqual(['Open, quiet', 'Follow', 'rounds/7', true])
    expect(shown({ people: 0 })).toEqual(['Open', 'Add people', 'rounds/7', true])
  })
  it('asks nothing of the lead otherwise', () => {
    expect(shown({})).toEqual(['Open', 'Follow', 'rounds/7', false])
    expect(shown({ left: 0, rolling: true })).toEqual(['Open', 'Follow', 'rounds/7', false])
    expect(shown({ left: 0, assignments: 0, people: 0, purpose: 'curation' })).toEqual(['Always open', 'Follow', 'rounds/7', false])
    expect(shown({ status: 'preparing', people: 0 })).toEqual(['Preparing', 'Follow', 'rounds/7', false])
    expect(shown({ status: 'closed' })).toEqual(['Closed', 'Read agreement', 'rounds/7/agreement', false])
    expect(shown({ status: 'closed', designed: true, kept_blind: true })).toEqual(['Closed, blind', 'Unblind', 'rounds/7', false])
    expect(shown({ status: 'closed', designed: true })).toEqual(['Closed', 'Read results', 'results?view=ratings', false])
    expect(shown({ status: 'closed', independent: false })).toEqual(['Closed', 'Open', 'rounds/7', false])
  })
  it('asks the lead to decide about a round whose pilot does not meet the bar', () => {
    const gate = { result: 'not met', pilot: { id: 1, name: 'Pilot 1', open: false }, reads: 'AC1 0.61 [0.48, 0.74], 97% lower bound 0.466, n = 40', needs: 'AC1 of polarity: 97% lower bound 0.60' } as NonNullable<Row['gate']>
    expect(shown({ status: 'preparing', gate })).toEqual(['Waits for pilot', 'Decide', 'rounds/7', true])
    expect(shown({ status: 'preparing', gate }, viewer)).toEqual(['Waits for pilot', 'Follow', 'rounds/7', false])
    expect(shown({ status: 'preparing', gate: { ...gate, result: 'pilot open' } })).toEqual(['Waits for pilot', 'Follow', 'rounds/7', false])
    expect(gateInWords(gate)).toBe('Pilot 1: AC1 0.61 [0.48, 0.74], 97% lower bound 0.466, n = 40; needs AC1 of polarity: 97% lower bound 0.60')
  })
  it('asks nothing of a viewer', () => {
    for (const change of [{ left: 0 }, { people: 0 }, { quiet: [{ name: 'Ben', quiet_days: 4 }] }, { status: 'closed' }]) expect(shown(change, viewer)[3]).toBe(false)
    expect(shown({ status: 'closed' }, viewer)[1]).toBe('Open')
  })
  it('is counted as open until the round is closed', () => {
    const open = (status: 'preparing' | 'open' | 'closed') => FILTERS.open({ ...round, status })
    expect([open('preparing'), open('open'), open('closed')]).toEqual([true, true, false])
  })
})

it('names people as far as they are known', () => {
  expect(peopleOf({ people: 0, names: [] })).toBe('none')
  expect(peopleOf({ people: 1, names: [] })).toBe('1 person')
  expect(peopleOf({ people: 2, names: ['Ann', 'Ben'] })).toBe('Ann, Ben')
  expect(peopleOf({ people: 30, names: ['Ann', 'Ben'] })).toBe('Ann, Ben and 28 more')
})

it('says who is quiet, and for how long at least', () => {
  const person = (name: string, quiet_days: number) => ({ name, quiet_days })
  expect(quietPeople([])).toBe('')
  expect(quietPeople([person('Ben', 4)])).toBe('Ben quiet for 4 days')
  expect(quietPeople([person('Ben', 4), person('Eva', 10)])).toBe('2 people quiet for 4 days or more')
  expect(quietPeople([person('Ben', 4), person('Eva', 10), person('Ann', 3)])).toBe('3 people quiet for 3 days or more')
})

it('takes the closing as the last change, then the last answer', () => {
  expect(changedAt({ opened_at: 'a', last_answer_at: 'b', closed_at: 'c' })).toBe('c')
  expect(changedAt({ opened_at: 'a', last_answer_at: 'b', closed_at: null })).toBe('b')
  expect(changedAt({ opened_at: 'a', last_answer_at: null, closed_at: null })).toBe('a')
})
