/** Unsaved changes of a curate page, stored in the browser's database by user and review. */

import { read, write } from '../../work/store.ts'
import type { Basis } from './rows.ts'
import type { Typed } from './newRows.ts'

export interface Unsaved {
  /** Unsaved values by unit and kind. */
  edits: Record<string, { said: object; basis: Basis }>
  /** New rows by destination. */
  staged: Record<string, Typed[]>
  /** UUIDs of requests that may have reached the server, by body, so that repetition is safe. */
  sent: Record<string, string>
}

export const nothingUnsaved = (): Unsaved => ({ edits: {}, staged: {}, sent: {} })

const keyOf = (user: number, review: number): [number, string] => [user, `review ${review}`]

export async function keep(user: number, review: number, unsaved: Unsaved): Promise<void> {
  const [by, assignment] = keyOf(user, review)
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
    const stored = (await read('drafts', (s) => s.get(keyOf(user, review)))) as Partial<Unsaved> | undefined
    return { ...nothingUnsaved(), ...stored }
  } catch {
    // Work on without drafts; the page warns at the first change.
    return nothingUnsaved()
  }
}
