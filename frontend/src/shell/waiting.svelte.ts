/** Numbers of open items beside the names of pages. */

import { api, data } from '../api/client.ts'
import { loadNews, news } from './news.svelte.ts'
import { may } from '../session.svelte.ts'

/** Milliseconds before a page change reloads the numbers. */
const FRESH = 15_000
const NONE = { changed: 0, labels: 0, guideline: 0 }

class Waiting {
  /** Open flags, comments and skips of the project. */
  inbox = $state(0)
  /** Open items by tab of Needs review. */
  review = $state(NONE)
  /** Open items by the name of their page. */
  readonly open: Record<string, number> = $derived({ Inbox: this.inbox, 'Needs review': this.review.changed + this.review.labels + this.review.guideline })
  /** Unread notifications. */
  readonly work = $derived(news.entries.filter((e) => e.unread).length)
  #of = ''
  #at = 0

  /** Reload the numbers on a page change; `again`: because one has changed. On an error no number is shown. */
  look(project: string, again = false): void {
    if (!again && project === this.#of && Date.now() - this.#at < FRESH) return
    if (project !== this.#of) [this.inbox, this.review] = [0, NONE]
    this.#of = project
    this.#at = Date.now()
    // The page itself reports connection errors.
    loadNews().catch(() => undefined)
    if (project && may(project, 'curate')) this.#count(project).catch(() => undefined)
  }

  async #count(slug: string): Promise<void> {
    const path = { params: { path: { slug } } }
    const [inbox, stale, findings] = await Promise.all([
      data(api.GET('/api/v1/projects/{slug}/inbox/totals/', path)),
      data(api.GET('/api/v1/projects/{slug}/stale/totals/', path)),
      data(api.GET('/api/v1/projects/{slug}/consistency/', path)),
    ])
    if (slug !== this.#of) return
    this.inbox = inbox.open
    this.review = {
      changed: stale.changed,
      labels: findings.rules.reduce((n, r) => n + r.waiting, 0),
      guideline: stale.outdated.reduce((n, o) => n + o.answers, 0),
    }
  }
}

export const waiting = new Waiting()
