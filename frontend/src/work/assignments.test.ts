import { describe, expect, it } from 'vitest'
import { back, current, empty, heldIds, leave, putBack, receive, reopen, type AnyCard, type HeldAssignments } from './assignments.ts'

const card = (assignment: number, revision = 0): AnyCard => ({ assignment, revision })
const assigned = (...ids: number[]): HeldAssignments<AnyCard> => receive(empty as HeldAssignments<AnyCard>, { held: ids, fetched: ids.map((id) => card(id)) })

describe('assignments', () => {
  it('shows the next held card at once, before the server has answered', () => {
    const assignments = leave(assigned(1, 2), card(1, 1), [])
    expect(current(assignments)?.assignment).toBe(2)
    expect(heldIds(assignments)).toEqual([2])
  })

  it('does not show again what is still on its way', () => {
    let assignments = leave(leave(assigned(1, 2), card(1, 1), []), card(2, 1), [])
    expect(current(assignments)).toBeNull()
    assignments = receive(assignments, { held: [2, 3], fetched: [card(2), card(3)] })
    expect(assignments.order).toEqual([3])
    expect(current(assignments)?.assignment).toBe(3)
    assignments = receive(assignments, { held: [3, 4], fetched: [card(3), card(4)] })
    expect(heldIds(assignments)).toEqual([3, 4])
  })

  it('leaves the text on the screen where it is when a reply changes the order or sends its card again', () => {
    const shown = assigned(1, 2)
    const assignments = receive(shown, { held: [2, 1], fetched: [card(1, 9), card(2)] })
    expect(current(assignments)).toBe(current(shown))
  })

  it('drops what the server has given to another person, but not the text on the screen', () => {
    expect(heldIds(receive(assigned(1, 2), { held: [5], fetched: [card(5)] }))).toEqual([1, 5])
  })

  it('stops when the assignments is empty', () => {
    expect(current(receive(leave(assigned(1), card(1, 1), []), { held: [], fetched: [] }))).toBeNull()
  })

  it('goes back to the unit left last with its trail, and on to where it was', () => {
    const assignments = leave(leave(assigned(1, 2, 3), card(1, 1), 'one'), card(2, 1), 'two')
    const first = back(assignments)!
    expect(current(first.assignments)).toEqual(card(2, 1))
    expect(first.left.trail).toBe('two')
    const second = back(first.assignments)!
    expect(current(second.assignments)).toEqual(card(1, 1))
    expect(back(second.assignments)).toBeNull()
    expect(current(leave(second.assignments, card(1, 2), 'again'))?.assignment).toBe(3)
  })

  it('takes an earlier answer out and puts it back unchanged', () => {
    const assignments = reopen(assigned(4), card(1, 2))
    expect(current(assignments)?.assignment).toBe(1)
    expect(current(receive(assignments, { held: [4, 5], fetched: [card(5)] }))?.assignment).toBe(1)
    expect(current(putBack(assignments))?.assignment).toBe(4)
  })
})
