/** Notices that say the same, as one: "Run: finished" of five runs. */

import type { Schemas } from '../api/client.ts'

type Notice = Schemas['Notification']
export interface NoticeGroup {
  /** The newest of them. */
  first: Notice
  all: readonly Notice[]
}

/** In the order of the newest of each. Of a project, and of the same words: what failed is never under what finished. */
export function grouped(notices: readonly Notice[]): NoticeGroup[] {
  const groups = new Map<string, Notice[]>()
  for (const notice of notices) {
    const key = JSON.stringify([notice.text, notice.project])
    groups.set(key, [...(groups.get(key) ?? []), notice])
  }
  return [...groups.values()].map((all) => ({ first: all[0]!, all }))
}

/** What a notice leads to, by its address: "Run 6"; null where that names no such thing. */
export function place(path: string): string | null {
  const [, what, id] = /\/([a-z]+?)s?\/(\d+)$/.exec(path) ?? []
  return what && id ? `${what[0]!.toUpperCase()}${what.slice(1)} ${id}` : null
}
