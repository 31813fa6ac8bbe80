/** Drafts of unfinished answers by user and assignment. They survive reload, crash and sign-out. */

import { read, write } from './store.ts'

export interface Draft<T = unknown> {
  user: number
  assignment: number
  /** The revision that the draft is based on; with another one the draft is outdated. */
  revision: number
  /** The kind's own state. */
  state: T
  comment: string
  flag: boolean
  activeMs: number
  /** Whether the person cleared the suggestion of a model. */
  rejected?: boolean
}

export async function saveDraft(draft: Draft): Promise<void> {
  await write(['drafts'], (tx) => void tx.objectStore('drafts').put(draft) as undefined)
}

/** The draft of this revision, or null, also if it cannot be read. */
export async function loadDraft<T>(user: number, assignment: number, revision: number): Promise<Draft<T> | null> {
  try {
    const found = (await read('drafts', (s) => s.get([user, assignment]))) as Draft<T> | undefined
    return found && found.revision === revision ? found : null
  } catch {
    return null
  }
}

export async function dropDraft(user: number, assignment: number): Promise<void> {
  await write(['drafts'], (tx) => void tx.objectStore('drafts').delete([user, assignment]) as undefined)
}
