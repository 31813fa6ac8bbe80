import { describe, expect, it } from 'vitest'
import { asks, matching, nextIndex, summary, type Destination } from './destinations.ts'

const place = (name: string, sort = 'page'): Destination => ({ name, sort, href: `/${name}` })
const press = (change: object) => ({ key: 'k', ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...change })

describe('places', () => {
  const all = [place('Needs review'), place('Agreement of round 1', 'round'), place('New round'), place('Rounds')]
  it('match every word in any order, beginnings first', () => {
    expect(matching(all, 'round').map((p) => p.name)).toEqual(['Rounds', 'Agreement of round 1', 'New round'])
    expect(matching(all, '1 agree').map((p) => p.name)).toEqual(['Agreement of round 1'])
    expect(matching(all, 'nothing')).toEqual([])
  })
  it('are all there before anything is typed, so many as fit', () => {
    expect(matching(all, ' ')).toEqual(all)
    expect(matching(all, '', 2)).toHaveLength(2)
  })
  it('are gone through with the arrows, round and round', () => {
    expect(nextIndex('ArrowDown', 3, 4)).toBe(0)
    expect(nextIndex('ArrowUp', 0, 4)).toBe(3)
    expect(nextIndex('Home', 2, 4)).toBeNull()
    expect(nextIndex('ArrowDown', 0, 0)).toBeNull()
  })
})

it('says how many of the matches are shown', () => {
  expect(summary(127, 20)).toBe('127 matches, 20 shown')
  expect(summary(1, 1)).toBe('1 match')
  expect(summary(1000, 20, true)).toBe('1,000+ matches, 20 shown')
})

describe('the key', () => {
  it('is Ctrl K, on a Mac Command K, and nothing near it', () => {
    expect(asks(press({ ctrlKey: true }), false)).toBe(true)
    expect(asks(press({ metaKey: true }), true)).toBe(true)
    expect(asks(press({ ctrlKey: true }), true)).toBe(false)
    expect(asks(press({ ctrlKey: true, shiftKey: true }), false)).toBe(false)
    expect(asks(press({}), false)).toBe(false)
  })
})
