/** Held assignments stored in the browser by user and round, for a page that is reloaded without a connection. */

import type { Schemas } from '../api/client.ts'
import type { Card } from '../kinds/kind.ts'
import { read, write } from './store.ts'

/** Longest lease of an assignment in milliseconds; afterwards another person can hold the unit. */
const LONGEST = 4 * 60 * 60 * 1000

export interface StoredAssignments {
  user: number
  round: Schemas['Round']['id']
  about: Schemas['Round']
  /** In the order of work. */
  cards: Card[]
  progress: Schemas['Progress']
  /** Time of the last reply of the server, in milliseconds. */
  at: number
}

/** The card with new names where an earlier version of this page stored it with `in_force` and `slot`. */
function withNewNames({ in_force, ...stored }: Card & { in_force?: unknown }): Card {
  const card = in_force === undefined ? stored : { ...stored, current: in_force }
  const lists = Object.entries(card).filter(([key, list]) => ['pico', 'current'].includes(key) && Array.isArray(list))
  const renamed = lists.map(([key, list]) => [
    key, (list as { slot?: string }[]).map(({ slot, ...rest }) => (slot ? { element: slot, ...rest } : rest)),
  ])
  return { ...card, ...Object.fromEntries(renamed) } as Card
}

/** Store assignments. A failure is ignored: work continues without a stored copy. */
export async function storeAssignments(stored: StoredAssignments): Promise<void> {
  try {
    await write(['hands'], (tx) => void tx.objectStore('hands').put(stored) as undefined)
  } catch {
    // Answers are stored separately and report their own failures.
  }
}

/** The stored assignments of a person in a round, or null if there are none or their leases have expired. */
export async function loadAssignments(user: number, round: number, now = Date.now()): Promise<StoredAssignments | null> {
  try {
    const found = (await read('hands', (s) => s.get([user, round]))) as StoredAssignments | undefined
    return found && now - found.at < LONGEST ? { ...found, cards: found.cards.map(withNewNames) } : null
  } catch {
    return null
  }
}

/** Delete a person's stored assignments at sign-out, because others may use the same computer. */
export async function deleteAssignments(user: number): Promise<void> {
  try {
    await write(['hands'], (tx) => void tx.objectStore('hands').delete(IDBKeyRange.bound([user], [user, []])) as undefined)
  } catch {
    // Nothing was stored.
  }
}
