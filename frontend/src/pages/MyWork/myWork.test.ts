import { expect, it } from 'vitest'
import type { Schemas } from '../../api/client.ts'
import { canGoOn, nextOf, soFar, describePrerequisite } from './myWork.ts'

const practice = { what: 'practice', state: 'to do', round: 7, name: 'trial' } as const
const questions = { what: 'questions', state: 'to do', round: 8, name: 'real' } as const
const row = (id: number, fields: Partial<Schemas['WorkRow']>) => ({ id, status: 'open', left: 5, today: 0, answered: 0, prerequisite: null, ...fields }) as Schemas['WorkRow']

it('goes on in no round that is not open to the person yet', () => {
  expect(nextOf([row(1, { prerequisite: practice, today: 3 }), row(2, {})])?.id).toBe(2)
  expect(nextOf([row(1, { prerequisite: practice })])).toBeUndefined()
  expect(nextOf([row(1, { prerequisite: { ...questions, state: 'ask the lead' } })])).toBeUndefined()
})

it('begins a round that begins with questions', () => {
  expect(canGoOn({ prerequisite: questions })).toBe(true)
  expect(nextOf([row(1, { prerequisite: questions })])?.id).toBe(1)
})

it('says where the practice is that is to be passed, and whom to ask', () => {
  expect(describePrerequisite(practice)).toEqual({ what: 'Not open to you yet: first pass', link: '/work/7' })
  expect(describePrerequisite({ ...practice, state: 'ask the lead' }).what).toContain('Ask the lead')
  expect(describePrerequisite({ ...questions, state: 'ask the lead' }).what).toContain('Ask the lead')
  expect(describePrerequisite(questions).what).toBe('Starts with questions about the guideline.')
})

it('says what was done by now, and nothing of a round that was not begun', () => {
  expect(soFar(0, 0)).toBe('')
  expect(soFar(0, 65)).toBe(', 0 done today, 1 min spent')
  expect(soFar(3, 20, '')).toBe('3 done today, 20 s spent')
})
