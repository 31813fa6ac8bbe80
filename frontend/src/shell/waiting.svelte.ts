/** What waits, as numbers beside the names of pages. */

import { api, data } from '../api/client.ts'
import { loadNews, news } from '../parts/news.svelte.ts'
import { may } from '../session.svelte.ts'

/** So long, in milliseconds, a number is shown before a change of page asks for it again. */
const FRESH = 15_000

class Waiting {
  /** Flags, comments and skips of the project that nobody has resolved. */
  inbox = $state(0)
  /** What is new for the person and not read. */
  readonly work = $derived(news.entries.filter((e) => e.unread).length)
  #of = ''
  #at = 0

  /** At each change of page; `again` where one of the numbers has just changed. What cannot be had shows no number. */
  look(project: string, again = false): void {
    if (!again && project === this.#of && Date.now() - this.#at < FRESH) return
    if (project !== this.#of) this.inbox = 0
    this.#of = project
    this.#at = Date.now()
    // The page itself says when the server is away.
    loadNews().catch(() => undefined)
    if (project && may(project, 'curate')) this.#inbox(project).catch(() => undefined)
  }

  async #inbox(slug: string): Promise<void> {
    const totals = await data(api.GET('/api/v1/projects/{slug}/inbox/totals/', { params: { path: { slug } } }))
    if (slug === this.#of) this.inbox = totals.open
  }
}

export const waiting = new Waiting()
