import { describe, expect, it } from 'vitest'
import { back, current, empty, held, leave, putBack, receive, reopen, type AnyCard, type Hand } from './hand.ts'

const card = (assignment: number, revision = 0): AnyCard => ({ assignment, revision })
const dealt = (...ids: number[]): Hand<AnyCard> => receive(empty as Hand<AnyCard>, { hand: ids, fetched: ids.map((id) => card(id)) })

describe('hand', () => {
  it('shows the next held card at once, before the server has answered', () => {
    const hand = leave(dealt(1, 2), card(1, 1), [])
    expect(current(hand)?.assignment).toBe(2)
    expect(held(hand)).toEqual([2])
  })

  it('does not show again what is still on its way', () => {
    let hand = leave(leave(dealt(1, 2), card(1, 1), []), card(2, 1), [])
    expect(current(hand)).toBeNull()
    hand = receive(hand, { hand: [2, 3], fetched: [card(2), card(3)] })
    expect(hand.order).toEqual([3])
    expect(current(hand)?.assignment).toBe(3)
    hand = receive(hand, { hand: [3, 4], fetched: [card(3), card(4)] })
    expect(held(hand)).toEqual([3, 4])
  })

  it('leaves the text on the screen where it is when a reply changes the order or sends its card again', () => {
    const shown = dealt(1, 2)
    const hand = receive(shown, { hand: [2, 1], fetched: [card(1, 9), card(2)] })
    expect(current(hand)).toBe(current(shown))
  })

  it('drops what the server has given to another person, but not the text on the screen', () => {
    expect(held(receive(dealt(1, 2), { hand: [5], fetched: [card(5)] }))).toEqual([1, 5])
  })

  it('stops when the hand is empty', () => {
    expect(current(receive(leave(dealt(1), card(1, 1), []), { hand: [], fetched: [] }))).toBeNull()
  })

  it('goes back to the unit left last with its trail, and on to where it was', () => {
    const hand = leave(leave(dealt(1, 2, 3), card(1, 1), 'one'), card(2, 1), 'two')
    const first = back(hand)!
    expect(current(first.hand)).toEqual(card(2, 1))
    expect(first.left.trail).toBe('two')
    const second = back(first.hand)!
    expect(current(second.hand)).toEqual(card(1, 1))
    expect(back(second.hand)).toBeNull()
    expect(current(leave(second.hand, card(1, 2), 'again'))?.assignment).toBe(3)
  })

  it('takes an earlier answer out and puts it back unchanged', () => {
    const hand = reopen(dealt(4), card(1, 2))
    expect(current(hand)?.assignment).toBe(1)
    expect(current(receive(hand, { hand: [4, 5], fetched: [card(5)] }))?.assignment).toBe(1)
    expect(current(putBack(hand))?.assignment).toBe(4)
  })
})
