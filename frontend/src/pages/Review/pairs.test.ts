import { expect, it } from 'vitest'
import type { Schemas } from '../../api/client.ts'
import { agrees, inWords, marks, table, years, type Pair } from './pairs.ts'

const pair = (intervention: string, outcome: string, direction: Schemas['JudgedDirectionEnum'] | null): Pair =>
  ({ id: 1, intervention, outcome, effect: direction && { direction, is_machine: true, sentence: '', machine: null } })
const study = (role: 'included' | 'general', directions: (number | null)[], decided: number[] = []) =>
  ({ role, directions, decided }) as unknown as Schemas['StudyDirections']
const pairs = [pair('a', 'x', 'decreased'), pair('a', 'y', 'not reported'), pair('b', 'x', null)]

it('finds the position of a pair, if there is one', () => {
  const found = table(pairs)
  expect([found.interventions, found.outcomes]).toEqual([['a', 'b'], ['x', 'y']])
  expect([found.at('b', 'x'), found.at('b', 'y')]).toEqual([2, null])
})

it('compares only directions that are reported', () => {
  expect([agrees(pairs[0]!, 0), agrees(pairs[0]!, 2), agrees(pairs[0]!, 3), agrees(pairs[0]!, null), agrees(pairs[1]!, 0), agrees(pairs[2]!, 0)]).toEqual([true, false, null, null, null, null])
})

it('marks included studies only, and says how many agree and report nothing', () => {
  const studies = [study('included', [0, 0, 0]), study('included', [2, 0, 0], [0]), study('included', [3, 0, 0]), study('included', [null, 0, 0]), study('general', [0, 0, 0])]
  const found = marks({ pairs, studies }, 0)
  expect(found).toEqual([{ direction: 0, agrees: true, decided: false }, { direction: 2, agrees: false, decided: true }, { direction: 3, agrees: null, decided: false }])
  expect(inWords(found)).toBe('1 of 2 agree, 1 not reported')
  expect(inWords(marks({ pairs, studies }, 1))).toBe('nothing to compare')
})

it('says which years are known', () => {
  const of = (...list: (number | null)[]) => years(list.map((year) => ({ year })))
  expect([of(2006, 1993), of(2000), of(2000, null), of(null), of()]).toEqual(['1993–2006', '2000', '2000, 1 of unknown year', 'years unknown', ''])
})
