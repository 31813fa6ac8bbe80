/** What was changed on a curate page and is not saved, kept in the browser's data base by user and review. */

import { read, write } from '../work/store.ts'
import type { Basis } from './rows.ts'
import type { Typed } from './newRows.ts'

export interface Unsaved {
  /** Working values that differ from what was in force when they were begun, by unit and kind. */
  edits: Record<string, { said: object; basis: Basis }>
  /** Rows that are to become propositions, by where they go. */
  staged: Record<string, Typed[]>
  /** The identifiers of writes that may have reached the server, by what was sent: the same again is the same write. */
  sent: Record<string, string>
}

export const nothingUnsaved = (): Unsaved => ({ edits: {}, staged: {}, sent: {} })

const place = (user: number, review: number): [number, string] => [user, `review ${review}`]

export async function keep(user: number, review: number, unsaved: Unsaved): Promise<void> {
  const [by, assignment] = place(user, review)
  const empty = !Object.keys(unsaved.edits).length && !Object.keys(unsaved.staged).length && !Object.keys(unsaved.sent).length
  await write(['drafts'], (tx) => {
    const drafts = tx.objectStore('drafts')
    if (empty) drafts.delete([by, assignment])
    else drafts.put({ user: by, assignment, ...unsaved })
    return undefined
  })
}

export async function loadUnsaved(user: number, review: number): Promise<Unsaved> {
  try {
    const found = (await read('drafts', (s) => s.get(place(user, review)))) as Partial<Unsaved> | undefined
    return { ...nothingUnsaved(), ...found }
  } catch {
    // A browser that keeps nothing is no reason not to work: the page says so at the first change.
    return nothingUnsaved()
  }
}
