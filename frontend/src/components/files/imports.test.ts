import { expect, it } from 'vitest'
import { matching, type Noticed } from './imports.ts'

const notice = (more: Partial<Noticed>): Noticed => ({ kind: 'k', message: '', item: '', place: '', field: '', text: '', ...more })

it('finds notices by all words, wherever they stand and whatever their case', () => {
  const all = [notice({ item: '1_2', text: 'Risk of bias' }), notice({ item: '1_3', message: 'risk' })]
  expect(matching(all, 'RISK 1_3')).toEqual([all[1]])
  expect(matching(all, '')).toHaveLength(2)
  expect(matching(all, 'nowhere')).toEqual([])
})
