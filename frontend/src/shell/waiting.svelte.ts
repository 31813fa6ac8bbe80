/** Numbers of open items beside the names of pages. */

import { api, data } from '../api/client.ts'
import { loadNews, news } from './news.svelte.ts'
import { may } from '../session.svelte.ts'

/** Milliseconds before a page change reloads the numbers. */
const FRESH = 15_000

class Waiting {
  /** Open flags, comments and skips of the project. */
  inbox = $state(0)
  /** Unread notifications. */
  readonly work = $derived(news.entries.filter((e) => e.unread).length)
  #of = ''
  #at = 0

  /** Reload the numbers on a page change; `again`: because one has changed. On an error no number is shown. */
  look(project: string, again = false): void {
    if (!again && project === this.#of && Date.now() - this.#at < FRESH) return
    if (project !== this.#of) this.inbox = 0
    this.#of = project
    this.#at = Date.now()
    // The page itself reports connection errors.
    loadNews().catch(() => undefined)
    if (project && may(project, 'curate')) this.#inbox(project).catch(() => undefined)
  }

  async #inbox(slug: string): Promise<void> {
    const totals = await data(api.GET('/api/v1/projects/{slug}/inbox/totals/', { params: { path: { slug } } }))
    if (slug === this.#of) this.inbox = totals.open
  }
}

export const waiting = new Waiting()
