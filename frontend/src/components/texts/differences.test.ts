import { expect, it } from 'vitest'
import { differences } from './differences.ts'

const read = (before: string, after: string) => differences(before, after).map((p) => `${{ same: '=', gone: '-', new: '+' }[p.kind]}${p.text}`)

it('tells the words that went and those that came', () => {
  expect(read('Is it one  text?', 'Is it a well-ordered  text?')).toEqual(['=Is it ', '-one', '+a well-ordered', '=  text?'])
  expect(read('a b c d', 'a x y d')).toEqual(['=a ', '-b c', '+x y', '= d'])
  expect(read('', 'new')).toEqual(['+new'])
  expect(read('same', 'same')).toEqual(['=same'])
})

it('goes by lines first where texts are long, and both can be read from what it tells', () => {
  const before = Array.from({ length: 900 }, (_, n) => `line ${n} says this`).join('\n')
  const after = before.replace('line 400 says this', 'line 400 says that').replace('line 800 says this\n', '')
  const found = differences(before, after)
  expect(found.filter((p) => p.kind !== 'new').map((p) => p.text).join('')).toBe(before)
  expect(found.filter((p) => p.kind !== 'gone').map((p) => p.text).join('')).toBe(after)
  expect(found.filter((p) => p.kind === 'new').map((p) => p.text.trim())).toEqual(['that'])
  expect(found.filter((p) => p.kind === 'gone').map((p) => p.text.trim())).toEqual(['this', 'line 800 says this'])
})
