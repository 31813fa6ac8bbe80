/** The units that a person holds, kept by user and round: a page that is loaded again while the server is away shows them. */

import type { Schemas } from '../api/client.ts'
import type { Card } from '../kinds/kind.ts'
import { read, write } from './store.ts'

/** So long after the server dealt a hand somebody else may hold its units: the longest that a round lets people hold them. */
const LONGEST = 4 * 60 * 60 * 1000

export interface KeptHand {
  user: number
  round: Schemas['Round']['id']
  about: Schemas['Round']
  /** In the order in which they are to be done. */
  cards: Card[]
  progress: Schemas['Progress']
  /** When the server was heard last, in milliseconds. */
  at: number
}

/** A browser that keeps nothing is no reason not to work. */
export async function keepHand(hand: KeptHand): Promise<void> {
  try {
    await write(['hands'], (tx) => void tx.objectStore('hands').put(hand) as undefined)
  } catch {
    // The answers themselves are kept apart, and say so where they cannot be.
  }
}

/** The hand of that very person, or null. */
export async function keptHand(user: number, round: number, now = Date.now()): Promise<KeptHand | null> {
  try {
    const found = (await read('hands', (s) => s.get([user, round]))) as KeptHand | undefined
    return found && now - found.at < LONGEST ? found : null
  } catch {
    return null
  }
}

/** Whoever signs out leaves no texts behind on a computer that others use too. */
export async function dropHands(user: number): Promise<void> {
  try {
    await write(['hands'], (tx) => void tx.objectStore('hands').delete(IDBKeyRange.bound([user], [user, []])) as undefined)
  } catch {
    // Nothing was kept.
  }
}
