import { describe, expect, it } from 'vitest'
import { criterion, page, protocol } from '../../rating/samples.ts'
import type { Criterion } from '../../rating/protocol.ts'
import { sharedBindings } from '../../work/keys.ts'
import { bindings } from './keys.ts'
import { begin, facts, fromValue, reduce, toValue, type Choice, type State } from './state.ts'

const options = ['left', 'right', 'tie', 'neither'].map((value) => ({ value, label: value, anchor: `${value} it is` }))
const preference = (key: string, more: Partial<Criterion> = {}) => criterion(key, { na: false, scale: { type: 'preference', options }, ...more })
const of = (...criteria: Criterion[]) => facts(page(protocol(criteria)), false)
const play = (f: ReturnType<typeof of>, choices: string, from: State = begin(null)) =>
  choices.split(' ').filter(Boolean).reduce((s, choice) => reduce(f, s, choice === 'enter' ? { do: 'next' } : choice === 'z' ? { do: 'undo' } : { do: 'choose', choice: choice as Choice, by: 'key' }), from)

describe('a comparison', () => {
  const one = of(preference('overall'))
  it('takes one key a pair', () => {
    const s = play(one, 'right')
    expect(s.complete).toBe(true)
    expect(toValue(one.page, s)).toEqual({ left: '9f3a01b0', right: '9f3a01b1', said: [{ criterion: 'overall', choice: '9f3a01b1', reason: '' }] })
  })
  it('asks several criteria one after the other', () => {
    const two = of(preference('focus'), preference('style'))
    expect(play(two, 'tie')).toMatchObject({ item: 1, complete: false })
    expect(toValue(two.page, play(two, 'tie left')).said.map((s) => s.choice)).toEqual(['tie', '9f3a01b0'])
    expect(play(two, 'tie left').complete).toBe(true)
    expect(play(two, 'tie enter').nudge).toBe('Style is not answered yet.')
    expect(play(two, 'tie z').choices).toEqual({})
  })
  it('takes no word that the protocol leaves out', () => {
    const f = of(preference('overall', { scale: { type: 'preference', options: options.slice(0, 2) } }))
    expect(play(f, 'tie')).toMatchObject({ choices: {}, complete: false })
  })
  it('waits for why where the protocol requires it', () => {
    const f = of(preference('overall', { reason: { ask: 'offered', required_at: ['neither'] } }))
    const s = play(f, 'neither')
    expect(s).toMatchObject({ complete: false, nudge: 'Reason required: Overall. Press W, then Enter.' })
    expect(play(f, 'enter', reduce(f, s, { do: 'why', criterion: 'overall', text: 'both are cut off' })).complete).toBe(true)
    expect(play(f, 'neither', reduce(f, begin(null), { do: 'why', criterion: 'overall', text: 'both' })).complete).toBe(true)
  })
  it('never moves on by an arrow key in its radio group, nor when it was taken out again', () => {
    expect(reduce(one, begin(null), { do: 'choose', choice: 'left', by: 'arrow' }).complete).toBe(false)
    const again = { ...one, revisit: true }
    expect(play(again, 'left')).toMatchObject({ complete: false, nudge: 'Press Enter to save the change.' })
    expect(play(again, 'left enter').complete).toBe(true)
  })
  it('keeps what was said where the sides are others', () => {
    const value = toValue(one.page, play(one, 'right'))
    const turned = { ...one.page, texts: one.page.texts.toReversed() }
    expect(fromValue(turned, value).choices).toEqual({ overall: 'left' })
  })
  it('has keys that collide with none of the shell', () => {
    const all = [...bindings, ...sharedBindings].flatMap((b) => b.keys)
    expect(new Set(all).size).toBe(all.length)
  })
})
