/** Notifications with the same text, grouped: "Run: finished" of five runs. */

import type { Schemas } from '../../api/client.ts'

type Notice = Schemas['Notification']
export interface NoticeGroup {
  /** The newest notification of the group. */
  first: Notice
  all: readonly Notice[]
}

/** Group notifications of one project with the same text, ordered by the newest of each group. */
export function grouped(notices: readonly Notice[]): NoticeGroup[] {
  const groups = new Map<string, Notice[]>()
  for (const notice of notices) {
    const key = JSON.stringify([notice.text, notice.project])
    groups.set(key, [...(groups.get(key) ?? []), notice])
  }
  return [...groups.values()].map((all) => ({ first: all[0]!, all }))
}

/** The object that a notification links to: "Run 6"; null if its address names none. */
export function place(path: string): string | null {
  const [, what, id] = /\/([a-z]+?)s?\/(\d+)$/.exec(path) ?? []
  return what && id ? `${what[0]!.toUpperCase()}${what.slice(1)} ${id}` : null
}
