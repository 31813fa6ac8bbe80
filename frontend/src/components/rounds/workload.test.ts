import { expect, it } from 'vitest'
import { everyDay, answersLeft, pace } from './workload.ts'

const person = { answered: 4, skipped: 1, seconds_an_answer: 30 }

it('estimates the remaining work from the pace of people with measured times', () => {
  expect(answersLeft({ assignments: 20, answered: 10, at_work: [person, { ...person, seconds_an_answer: null }] })).toBe(300)
  expect(answersLeft({ assignments: 20, answered: 10, at_work: [] })).toBe(0)
  expect(pace([person, { answered: 10, skipped: 0, seconds_an_answer: 60 }])).toEqual({ each: 50, n: 15 })
  expect(pace([])).toBeNull()
})

it('fills in the days between', () => {
  const days = everyDay([{ day: '2026-02-27', answers: 3 }, { day: '2026-03-01', answers: 1 }])
  expect(days.map((d) => `${d.day} ${d.answers}`)).toEqual(['2026-02-27 3', '2026-02-28 0', '2026-03-01 1'])
})
