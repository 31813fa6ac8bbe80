import { expect, it } from 'vitest'
import { asCell, codesOfCell } from '../kinds/rate/sets.ts'
import { Pause } from './pause.ts'
import { beside, inWords, items, layout } from './protocol.ts'
import { criterion, m3, page } from './samples.ts'
import { findIn, sentences, shared } from './source.ts'

const cut = (text: string) => sentences(text).map((r) => text.slice(r.start, r.end))

it('cuts a text into sentences and leaves nothing but space between them', () => {
  expect(cut('One is (p = 0.95) e.g. small. Two! “Three” is it? Four')).toEqual(['One is (p = 0.95) e.g. small.', 'Two!', '“Three” is it?', 'Four'])
  expect(cut('A 𝑛 = 4.\nB follows.\n\nC.')).toEqual(['A 𝑛 = 4.', 'B follows.', 'C.'])
  expect(cut('')).toEqual([])
})

it('finds words whatever their case, across a line end, and takes signs as they are', () => {
  const found = findIn(['Drug A (p < 0.05).', 'no drug\nA here'], 'drug a')
  expect(found.map((h) => h.study)).toEqual([0, 1])
  expect(findIn(['a (p < 0.05) b'], '(p <')).toHaveLength(1)
  expect(findIn(['aaa'], 'a')).toEqual([])
})

it('hints at runs of three words that stand in both texts', () => {
  const text = 'Rates were higher with drug B at night, they say.'
  expect(shared(text, 'higher with drug B at night').map((r) => text.slice(r.start, r.end))).toEqual(['higher with drug B at night'])
  expect(shared(text, 'higher with it')).toEqual([])
})

it('writes sets as the server does', () => {
  expect(asCell(['b', 'a', 'b'])).toBe('a; b')
  expect([...codesOfCell(' a;b; ')]).toEqual(['a', 'b'])
})

it('knows what of the target stands beside a criterion', () => {
  const { target } = page(m3)
  const said = (at: 'population' | 'comparator' | 'polarity') => beside(criterion('x', { beside: at }), target)
  expect([said('population'), said('comparator'), said('polarity')]).toEqual(['[adults]', '', 'no effect'])
  expect(beside(criterion('x'), target)).toBeNull()
})

it('asks a group by exception at once, in its place', () => {
  expect(items(m3).map((i) => [i.key, i.criteria.length])).toEqual([['claim', 1], ['pico', 4], ['polarity', 1], ['modality', 1], ['hallucination', 1], ['repetition', 1], ['comment', 1]])
})

it('prints an anchor once, and lays short options side by side', () => {
  expect(inWords({ value: '5', label: '5', anchor: 'all of it' })).toBe('all of it')
  expect(inWords({ value: 'c', label: 'Consistent', anchor: 'it follows' })).toBe('Consistent: it follows')
  const categorical = (...anchors: string[]) => layout(criterion('x', { scale: { type: 'categorical', options: anchors.map((anchor) => ({ value: anchor, label: '', anchor })) } }))
  expect([categorical('yes', 'no'), categorical('a'.repeat(60), 'b'), categorical('a'.repeat(90), 'b')]).toEqual(['half', 'side', 'rows'])
})

it('offers a break after 45 minutes or ten sources', () => {
  let now = 0
  const pause = new Pause(() => now)
  for (let n = 0; n < 9; n++) pause.done()
  expect(pause.offer).toBe('')
  pause.done()
  expect(pause.offer).toMatch(/^0 min at work, 10 sources/)
  pause.restart()
  now = 45 * 60_000
  expect(pause.offer).toMatch(/^45 min at work, 0 sources/)
})
