import { expect, it } from 'vitest'
import type { Schemas } from '../../api/client.ts'
import { canGoOn, nextOf, soFar, standing } from './myWork.ts'

const practice = { what: 'practice', state: 'to do', round: 7, name: 'trial' } as const
const questions = { what: 'questions', state: 'to do', round: 8, name: 'real' } as const
const row = (id: number, fields: Partial<Schemas['WorkRow']>) => ({ id, status: 'open', left: 5, today: 0, answered: 0, first: null, ...fields }) as Schemas['WorkRow']

it('goes on in no round that is not open to the person yet', () => {
  expect(nextOf([row(1, { first: practice, today: 3 }), row(2, {})])?.id).toBe(2)
  expect(nextOf([row(1, { first: practice })])).toBeUndefined()
  expect(nextOf([row(1, { first: { ...questions, state: 'ask the lead' } })])).toBeUndefined()
})

it('begins a round that begins with questions', () => {
  expect(canGoOn({ first: questions })).toBe(true)
  expect(nextOf([row(1, { first: questions })])?.id).toBe(1)
})

it('says where the practice is that is to be passed, and whom to ask', () => {
  expect(standing(practice)).toEqual({ what: 'Not open to you yet: first pass', link: '/work/7' })
  expect(standing({ ...practice, state: 'ask the lead' }).what).toContain('Ask the lead')
  expect(standing({ ...questions, state: 'ask the lead' }).what).toContain('Ask the lead')
  expect(standing(questions).what).toBe('Starts with questions about the guideline.')
})

it('says what was done by now, and nothing of a round that was not begun', () => {
  expect(soFar(0, 0)).toBe('')
  expect(soFar(0, 65)).toBe(', 0 done today, 1 min spent')
  expect(soFar(3, 20, '')).toBe('3 done today, 20 s spent')
})
