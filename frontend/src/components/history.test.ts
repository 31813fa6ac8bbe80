import { expect, it } from 'vitest'
import { differences } from './history.ts'

it('says field by field what was there and what is', () => {
  expect(differences({ licence: '', name: 'Eye' }, { licence: 'CC0-1.0', name: 'Eye' })).toEqual([{ name: 'licence', before: '', after: 'CC0-1.0' }])
  expect(differences(null, { people: ['R1', 'R2'] })).toEqual([{ name: 'people', before: '', after: 'R1, R2' }])
  expect(differences({ role: 'annotator' }, null)).toEqual([{ name: 'role', before: 'annotator', after: '' }])
})
