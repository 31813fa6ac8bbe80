import { expect, it } from 'vitest'
import { m3, page, protocol } from '../../rating/samples.ts'
import { onSource, onText } from './marks.ts'
import { begin, facts, type State } from './focusTarget.ts'
import { reduce } from './state.ts'

const TEXT = ['Rates were higher with drug B at night.']
const hints = (state: State, f = facts(page({ ...m3, hints: true }, TEXT))) => onSource(f, state).flat().filter((m) => m.channel === 'hint' && m.ranges.length).length

it('hints at shared words where the protocol wants it, and never while words are to be marked', () => {
  const f = facts(page({ ...m3, hints: true }, TEXT))
  const at = (item: number) => reduce(f, begin(f), { do: 'go', item })
  expect(hints(at(0))).toBe(1)
  expect(f.items[4]!.key).toBe('hallucination')
  expect(hints(at(4))).toBe(0)
  const off = facts(page(protocol(m3.criteria), TEXT))
  expect(hints(begin(off), off)).toBe(0)
})

it('numbers quotes through the text and the source, and marks by themselves', () => {
  const f = facts(page(m3, TEXT))
  let s = begin(f)
  for (const word of [0, 2]) s = reduce(f, reduce(f, s, { do: 'word', to: word, extend: false }), { do: 'quote' })
  s = reduce(f, reduce(f, s, { do: 'word', to: 5, extend: false }), { do: 'mark' })
  s = reduce(f, reduce(f, { ...s, place: 'source' }, { do: 'sentence', to: 1, extend: false }), { do: 'quote' })
  expect(onText(f, s).map((m) => [m.channel, m.tag])).toEqual([['quote', '1'], ['quote', '2'], ['span', 'H1']])
  expect(onSource(f, s).flat().filter((m) => m.channel === 'quote').map((m) => m.tag)).toEqual(['3'])
})
