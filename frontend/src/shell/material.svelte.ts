/** The kinds of material of the current project, for the navigation and the palette. */

import { api, data, type Schemas } from '../api/client.ts'
import { may } from '../session.svelte.ts'
import type { Entry } from './navigation.ts'

/** Milliseconds before a page change reloads the kinds. */
const FRESH = 15_000

class Material {
  /** null: not loaded, or not for this person. */
  kinds = $state.raw<Schemas['MaterialKind'][] | null>(null)
  #of = ''
  #at = 0

  look(slug: string): void {
    if (slug === this.#of && Date.now() - this.#at < FRESH) return
    if (slug !== this.#of) this.kinds = null
    this.#of = slug
    this.#at = Date.now()
    if (!slug || !may(slug, 'read the corpus')) return
    data(api.GET('/api/v1/projects/{slug}/materials/', { params: { path: { slug } } }))
      .then(({ kinds }) => {
        if (slug === this.#of) this.kinds = kinds
      })
      // Without the kinds, the navigation has all pages.
      .catch(() => undefined)
  }
}

export const material = new Material()

/** Pages that are of use only with some material, and the only one of them that brings some. */
const DEPENDENT = ['pubmed', 'ranking']
const FIRST = 'pubmed'

/** The entries of the navigation that are of use with the project's material. */
export function useful(entries: Entry[], kinds: readonly Pick<Schemas['MaterialKind'], 'pages'>[] | null): Entry[] {
  if (!kinds) return entries
  const wanted = kinds.length ? kinds.flatMap((k) => k.pages) : [FIRST]
  return entries.filter(({ href }) => {
    const page = href.replace(/^.*\//, '')
    return !DEPENDENT.includes(page) || wanted.includes(page)
  })
}
