import { expect, it } from 'vitest'
import { everyDay, answersLeft, pace, quiet } from './workload.ts'

const now = Date.parse('2026-11-22T12:00:00Z')
const person = { answered: 4, skipped: 1, left: 5, seconds_an_answer: 30, last_answer_at: '2026-11-19T11:00:00Z' }

it('tells of whoever has work left and was not seen for three days', () => {
  expect(quiet(person, now)).toBe('last answer 3 days ago')
  expect(quiet({ ...person, last_answer_at: '2026-11-20T11:00:00Z' }, now)).toBe('')
  expect(quiet({ ...person, left: 0 }, now)).toBe('')
  expect(quiet({ ...person, last_answer_at: null }, now)).toBe('')
})

it('reckons the work left by the pace of those whose time was measured', () => {
  expect(answersLeft({ assignments: 20, answered: 10, at_work: [person, { ...person, seconds_an_answer: null }] })).toBe(300)
  expect(answersLeft({ assignments: 20, answered: 10, at_work: [] })).toBe(0)
  expect(pace([person, { answered: 10, skipped: 0, seconds_an_answer: 60 }])).toEqual({ each: 50, n: 15 })
  expect(pace([])).toBeNull()
})

it('fills in the days between', () => {
  const days = everyDay([{ day: '2026-02-27', answers: 3 }, { day: '2026-03-01', answers: 1 }])
  expect(days.map((d) => `${d.day} ${d.answers}`)).toEqual(['2026-02-27 3', '2026-02-28 0', '2026-03-01 1'])
})
