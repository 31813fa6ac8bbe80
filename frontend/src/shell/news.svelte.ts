import { api, data, type Schemas } from '../api/client.ts'
import { session } from '../session.svelte.ts'

/** Notifications of the signed-in user, loaded once for the header and the page. */
export const news = $state<{ entries: readonly Schemas['Notification'][] }>({ entries: [] })

let of: number | null = null

/** Load the notifications; those of another user are removed at once. */
export async function loadNews(): Promise<void> {
  const user = session.now?.user.id ?? null
  if (user !== of) news.entries = []
  of = user
  if (user !== null) take(await data(api.GET('/api/v1/notifications/')))
}

export async function markRead(ids: number[]): Promise<void> {
  take(await data(api.POST('/api/v1/notifications/read/', { body: { ids } })))
}

function take(entries: Schemas['Notification'][] | undefined): void {
  news.entries = entries ?? []
}
