/** The assignments a person holds, without those answered here whose answers are still being sent. Pure functions. */

/** The fields that cards of all kinds have. */
export interface AnyCard {
  assignment: number
  revision: number
}

/** A unit that was left, with the steps that undo takes back. */
export interface Left<C> {
  card: C
  trail: unknown
}

export interface HeldAssignments<C extends AnyCard> {
  /** Assignments to do, in order. */
  readonly order: readonly number[]
  readonly cards: ReadonlyMap<number, C>
  /** Assignments answered or skipped here; the server lists them until it has the answer. */
  readonly gone: ReadonlySet<number>
  /** An earlier unit that is answered again before the next one. */
  readonly reopened: C | null
  /** Units left in this session, the newest last; undo goes back through them. */
  readonly left: readonly Left<C>[]
}

export const empty = { order: [], cards: new Map<number, never>(), gone: new Set<number>(), reopened: null, left: [] } satisfies HeldAssignments<never>

/** The card to show now, or null if no assignment is left. */
export function current<C extends AnyCard>(assignments: HeldAssignments<C>): C | null {
  if (assignments.reopened) return assignments.reopened
  for (const id of assignments.order) {
    const card = assignments.cards.get(id)
    if (card) return card
  }
  return null
}

/** Ids of the assignments whose cards are here; the server sends the other cards. */
export function heldIds<C extends AnyCard>(assignments: HeldAssignments<C>): number[] {
  return assignments.order.filter((id) => assignments.cards.has(id))
}

/** Take over the server's list of assignments, in its order, without those answered here in the meantime. */
export function receive<C extends AnyCard>(assignments: HeldAssignments<C>, reply: { held: number[]; fetched: C[] }): HeldAssignments<C> {
  const cards = new Map(assignments.cards)
  for (const card of reply.fetched) if (!cards.has(card.assignment)) cards.set(card.assignment, card)
  const order = reply.held.filter((id) => !assignments.gone.has(id))
  // The unit on the screen stays first, even if the order has changed or its lease has expired: a text must not change
  // while a person reads it, and the server accepts a late answer.
  const displayed = assignments.reopened ? undefined : current(assignments)?.assignment
  if (displayed !== undefined) order.splice(0, order.length, displayed, ...order.filter((id) => id !== displayed))
  for (const id of cards.keys()) if (!order.includes(id)) cards.delete(id)
  return { ...assignments, order, cards }
}

/** Leave the shown card, with the steps that undo takes back. */
export function leave<C extends AnyCard>(assignments: HeldAssignments<C>, card: C, trail: unknown): HeldAssignments<C> {
  const gone = new Set(assignments.gone).add(card.assignment)
  const cards = new Map(assignments.cards)
  cards.delete(card.assignment)
  const left = [...assignments.left.filter((l) => l.card.assignment !== card.assignment), { card, trail }].slice(-50)
  return { order: assignments.order.filter((id) => id !== card.assignment), cards, gone, left, reopened: null }
}

/** Show an answered unit again before the next one. */
export function reopen<C extends AnyCard>(assignments: HeldAssignments<C>, card: C): HeldAssignments<C> {
  return { ...assignments, reopened: card }
}

/** Go back to the unit left last; null if there is none. */
export function back<C extends AnyCard>(assignments: HeldAssignments<C>): { assignments: HeldAssignments<C>; left: Left<C> } | null {
  const left = assignments.left.at(-1)
  return left ? { assignments: { ...assignments, reopened: left.card, left: assignments.left.slice(0, -1) }, left } : null
}

/** Close a reopened unit without a change. */
export function putBack<C extends AnyCard>(assignments: HeldAssignments<C>): HeldAssignments<C> {
  return { ...assignments, reopened: null }
}
