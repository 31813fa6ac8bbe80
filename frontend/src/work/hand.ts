/** Which unit is shown: the hand that the server dealt, less what was answered here and is still on its way. Pure. */

/** What every kind of card has. */
export interface AnyCard {
  assignment: number
  revision: number
}

/** A unit that was left, with what is needed to come back to it step by step. */
export interface Left<C> {
  card: C
  trail: unknown
}

export interface Hand<C extends AnyCard> {
  /** Assignments to do, in order. */
  readonly order: readonly number[]
  readonly cards: ReadonlyMap<number, C>
  /** Answered or skipped here: the server may still list them until it has the answer. */
  readonly gone: ReadonlySet<number>
  /** The unit that was taken out again, before the hand goes on. */
  readonly reopened: C | null
  /** Units left in this session, the newest last: what undo walks back through. */
  readonly left: readonly Left<C>[]
}

export const empty = { order: [], cards: new Map<number, never>(), gone: new Set<number>(), reopened: null, left: [] } satisfies Hand<never>

/** The card to show now; null where the hand is empty. */
export function current<C extends AnyCard>(hand: Hand<C>): C | null {
  if (hand.reopened) return hand.reopened
  for (const id of hand.order) {
    const card = hand.cards.get(id)
    if (card) return card
  }
  return null
}

/** Assignments whose cards are held, as the server wants to know them. */
export function held<C extends AnyCard>(hand: Hand<C>): number[] {
  return hand.order.filter((id) => hand.cards.has(id))
}

/** Takes over what the server says is to be done. Its order counts; what was answered here meanwhile stays away. */
export function receive<C extends AnyCard>(hand: Hand<C>, reply: { hand: number[]; fetched: C[] }): Hand<C> {
  const cards = new Map(hand.cards)
  for (const card of reply.fetched) if (!cards.has(card.assignment)) cards.set(card.assignment, card)
  const order = reply.hand.filter((id) => !hand.gone.has(id))
  // The text on the screen never changes under the person's hands: it stays, and stays first, even where the order has
  // changed or its lease has lapsed (a late answer is taken as well).
  const shown = hand.reopened ? undefined : current(hand)?.assignment
  if (shown !== undefined) order.splice(0, order.length, shown, ...order.filter((id) => id !== shown))
  for (const id of cards.keys()) if (!order.includes(id)) cards.delete(id)
  return { ...hand, order, cards }
}

/** Puts the card that is shown away, as it now stands, with the trail of steps that undo goes back along. */
export function leave<C extends AnyCard>(hand: Hand<C>, card: C, trail: unknown): Hand<C> {
  const gone = new Set(hand.gone).add(card.assignment)
  const cards = new Map(hand.cards)
  cards.delete(card.assignment)
  const left = [...hand.left.filter((l) => l.card.assignment !== card.assignment), { card, trail }].slice(-50)
  return { order: hand.order.filter((id) => id !== card.assignment), cards, gone, left, reopened: null }
}

/** Takes an answered unit out again, before the hand goes on. */
export function reopen<C extends AnyCard>(hand: Hand<C>, card: C): Hand<C> {
  return { ...hand, reopened: card }
}

/** Back to the unit left last, with its trail; null where there is none. */
export function back<C extends AnyCard>(hand: Hand<C>): { hand: Hand<C>; left: Left<C> } | null {
  const left = hand.left.at(-1)
  return left ? { hand: { ...hand, reopened: left.card, left: hand.left.slice(0, -1) }, left } : null
}

/** Puts a reopened unit back as it was. */
export function putBack<C extends AnyCard>(hand: Hand<C>): Hand<C> {
  return { ...hand, reopened: null }
}
