/** The kinds of material of the current project, for the navigation and the palette. */

import { api, data, type Schemas } from '../api/client.ts'
import { may } from '../session.svelte.ts'
import type { Entry } from './navigation.ts'

/** Milliseconds before a page change reloads the kinds. */
const FRESH = 15_000

class Material {
  /** null: not loaded, or not for this person. */
  kinds = $state.raw<Schemas['MaterialKind'][] | null>(null)
  /** Pages that are of no use with these kinds. Until they are loaded, the navigation has all pages. */
  unused = $state.raw<string[]>([])
  #of = ''
  #at = 0

  look(slug: string): void {
    if (slug === this.#of && Date.now() - this.#at < FRESH) return
    if (slug !== this.#of) [this.kinds, this.unused] = [null, []]
    this.#of = slug
    this.#at = Date.now()
    if (!slug || !may(slug, 'read the corpus')) return
    data(api.GET('/api/v1/projects/{slug}/materials/', { params: { path: { slug } } }))
      .then(({ kinds, unused_pages }) => {
        if (slug === this.#of) [this.kinds, this.unused] = [kinds, unused_pages]
      })
      .catch(() => undefined)
  }
}

export const material = new Material()

/** The entries of the navigation without the pages that are of no use with the project's material. */
export function useful(entries: Entry[], unused: readonly string[]): Entry[] {
  return entries.filter(({ href }) => !unused.includes(href.replace(/^.*\//, '')))
}
