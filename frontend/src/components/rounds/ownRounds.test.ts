import { expect, it } from 'vitest'
import type { Schemas } from '../../api/client.ts'
import { asTodo, canGoOn, describePrerequisite, inOrder, nextOf, opensAfter, progressOf, soFar, summaryOf } from './ownRounds.ts'

const practice = { what: 'practice', state: 'to do', round: 7, name: 'trial' } as const
const questions = { what: 'questions', state: 'to do', round: 8, name: 'real' } as const
const row = (id: number, fields: Partial<Schemas['WorkRow']>) => ({ id, name: `round ${id}`, status: 'open', left: 5, today: 0, answered: 0, active_seconds: 0, practice: null, prerequisite: null, ...fields }) as Schemas['WorkRow']

it('goes on in no round that is not open to the person yet', () => {
  expect(nextOf([row(1, { prerequisite: practice, today: 3 }), row(2, {})])?.id).toBe(2)
  expect(nextOf([row(1, { prerequisite: practice })])).toBeUndefined()
  expect(nextOf([row(1, { prerequisite: { ...questions, state: 'ask the lead' } })])).toBeUndefined()
})

it('begins a round that begins with questions', () => {
  expect(canGoOn({ prerequisite: questions })).toBe(true)
  expect(nextOf([row(1, { prerequisite: questions })])?.id).toBe(1)
})

it('puts practice before the rounds that require it and before other work', () => {
  const rows = [
    row(1, { left: 0 }), row(2, { prerequisite: practice }), row(3, {}), row(4, { answered: 2 }), row(5, { today: 1, answered: 1 }),
    row(7, { practice: 'to do' }), row(9, { left: 0, practice: 'may begin again' }), row(10, { status: 'closed' }),
  ]
  expect(inOrder(rows).map((r) => r.id)).toEqual([7, 5, 4, 3, 9, 2, 1])
  expect(opensAfter(rows[5]!, rows)).toBe('Finish it first: round 2 opens to you after it.')
  expect(opensAfter(rows[2]!, rows)).toBe('')
})

it('says why a round is not open, and whom to ask', () => {
  expect(describePrerequisite(practice)).toBe('Opens after “trial”')
  expect(describePrerequisite({ ...practice, state: 'ask the lead' })).toContain('ask the lead')
  expect(describePrerequisite({ ...questions, state: 'ask the lead' })).toContain('ask the lead')
  expect(describePrerequisite(questions)).toBe('Starts with questions about the guideline')
})

it('has one action for each round, or says that it is locked', () => {
  expect(asTodo(row(2, { prerequisite: practice }), 'Label').locked?.words).toBe('Locked')
  expect(asTodo(row(3, { answered: 15, active_seconds: 300 }), 'Label')).toMatchObject({ button: 'Continue', reason: 'Label · 15 of 20 answered, about 2 min left' })
  expect(asTodo(row(3, { practice: 'to do' }), 'Label')).toMatchObject({ button: 'Begin practice', reason: 'Label' })
  expect(asTodo(row(3, { practice: 'may begin again', left: 0 }), 'Label').button).toBe('Second attempt')
  expect(asTodo(row(3, { left: 0, answered: 4 }), 'Label')).toMatchObject({ button: 'Open', reason: 'Label · Nothing left for now' })
})

it('estimates the time left from the own pace', () => {
  expect(progressOf(row(1, { answered: 24, left: 16, active_seconds: 720 }))).toBe('of 40 answered, about 8 min left')
  expect(progressOf(row(1, {}))).toBe('of 5 answered')
})

it('sums up what is left and done', () => {
  expect(soFar(0, 0)).toBe('')
  expect(soFar(3, 20)).toBe('3 done today, 20 s spent')
  expect(summaryOf([row(1, {}), row(2, { prerequisite: practice }), row(3, { today: 3, active_seconds: 20 })])).toBe('10 units left in 2 rounds · 5 units in 1 locked round · 3 done today, 20 s spent')
  expect(summaryOf([])).toBe('')
})
