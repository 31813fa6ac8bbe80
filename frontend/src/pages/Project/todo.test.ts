import { expect, it } from 'vitest'
import type { Schemas } from '../../api/client.ts'
import { nextStep, todo } from './todo.ts'

type Overview = Schemas['Overview']
const person = (member: number, days: number, left: number | null = 78) => ({ member, name: `Person ${member}`, pseudonym: 'R-1', answered: 42, skipped: 0, left, seconds_an_answer: 30, last_answer_at: '2026-11-21T12:00:00Z', quiet_days: days >= 3 ? days : 0 })
const round = (id: number, fields: Partial<Schemas['OverviewRound']> = {}) => ({ id, name: `round ${id}`, status: 'open', assignments: 120, answered: 42, at_work: [], ...fields }) as unknown as Schemas['OverviewRound']
const empty: Overview = { rounds: [], contested: [], waiting: [], unsettled: { flagged: 0, commented: 0, skipped: 0, open: 0 }, failed_jobs: [], unfinished: [], days: [] }
const job = (id: number, what: string, page: string) => ({ id, what, page, error: 'The worker ran out of memory.', at: '2026-11-25T10:00:00Z' })
const all: Overview = {
  ...empty,
  rounds: [round(1, { at_work: [person(5, 4), person(6, 1)] }), round(2, { answered: 120 })],
  contested: [{ round: 3, name: 'final', count: 10 }],
  waiting: [{ round: 6, name: 'main' }],
  unsettled: { flagged: 2, commented: 1, skipped: 0, open: 3 },
  failed_jobs: [job(9, 'Scores (rouge)', 'systems/runs/4')],
  unfinished: [{ round: 4, name: 'Writing', unit: 7, key: '49', person: 'R-2' }],
}
const stale: Schemas['StaleTotals'] = { changed: 10, outdated: [] }
const options = { slug: 'eye', leads: true }

it('lists what needs the lead in a fixed order, each with count, reason and one action', () => {
  expect(todo(all, stale, options).map((i) => [i.n, i.title, i.reason, i.button, i.href.replace('/projects/eye/', '')])).toEqual([
    [10, 'Contested fields', 'People disagree in final', 'Adjudicate', 'rounds/3/adjudicate'],
    [1, 'Waiting round', 'The pilot of main does not meet its bar', 'Decide', 'rounds/6'],
    [1, 'Failed job', 'Scores (rouge): The worker ran out of memory.', 'See failure', 'systems/runs/4'],
    [10, 'Stale labels', 'The text or tuple changed after it was labelled', 'Review', 'needs-review'],
    [3, 'Unsettled answers', '2 flagged, 1 commented', 'Answer', 'inbox'],
    [1, 'Unfinished unit', 'R-2 left 49 in Writing; others can take it', 'See round', 'rounds/4'],
    [1, 'Quiet person', 'Person 5 has not answered for 4 days; 78 are left in round 1', 'See round', 'rounds/1'],
    [1, 'Round to close', 'round 2 has all 120 answers', 'Close round', 'rounds/2?close=1'],
  ])
  expect(todo(empty, null, options)).toEqual([])
  expect(todo(all, stale, { ...options, leads: false }).map((i) => i.key)).not.toContain('close')
})

it('counts several rounds and people in one task', () => {
  const many: Overview = {
    ...empty,
    rounds: [round(1, { at_work: [person(5, 4), person(6, 9)] }), round(2, { at_work: [person(5, 5)] })],
    contested: [{ round: 3, name: 'b', count: 7 }, { round: 2, name: 'a', count: 3 }],
    failed_jobs: [job(2, 'Import', 'import'), job(1, 'Release', 'releases')],
  }
  const [contested, failed, outdated, quiet] = todo(many, { changed: 0, outdated: [{ answers: 4 } as Schemas['OutdatedTotal']] }, options)
  expect(contested).toMatchObject({ n: 10, reason: 'People disagree in b (7) and a (3)' })
  expect(failed).toMatchObject({ n: 2, reason: 'Last: Import: The worker ran out of memory.' })
  expect(outdated).toMatchObject({ n: 4, reason: 'Answered under an earlier guideline', href: '/projects/eye/needs-review?reason=guideline' })
  expect(quiet).toMatchObject({ n: 2, reason: 'Person 6 and Person 5 have not answered for 5 days or more', href: '/projects/eye/rounds/1' })
})

it('shows no next step twice', () => {
  const step = (page: string) => ({ page, words: page }) as Schemas['NextStep']
  const tasks = todo(all, stale, options)
  const next = (way: Partial<Schemas['Way']>) => nextStep({ steps: [], next: null, then: [], options: [], ...way }, { tasks, overview: all, slug: 'eye' })?.page
  expect(next({ next: step('rounds/2'), then: [step('rounds/1'), step('releases')] })).toBe('releases')
  expect(next({ next: step('rounds/3/adjudicate') })).toBeUndefined()
  expect(next({ next: step('rounds/3') })).toBe('rounds/3')
})
