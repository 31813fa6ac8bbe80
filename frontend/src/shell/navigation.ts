/** The pages of a project in its navigation; in a file of their own, because the Work page does not need them. */

import { find, groups, routes, type Group } from '../routes.ts'
import type { Session } from '../session.svelte.ts'

/** A page of a project in its navigation. */
export interface Entry {
  href: string
  name: string
  group: Group
}

/** The pages of a project that the person may open, group by group. */
export function navigation(project: Session['projects'][number]): Entry[] {
  return groups.flatMap((group) =>
    routes
      .filter((r) => r.nav && r.group === group && (!r.may || project.may?.includes(r.may)))
      .map((r) => ({ href: r.path.replace(':project', project.slug), name: r.title, group })),
  )
}

/** The navigation entry nearest to an address, and its group. */
export function currentEntry(pathname: string): { name: string; group: Group; itself: boolean } | null {
  const route = find(pathname)?.route
  if (!route?.path.startsWith('/projects/:project')) return null
  const above = routes
    .filter((r) => r.nav && (route.path === r.path || route.path.startsWith(`${r.path}/`)))
    .sort((a, b) => b.path.length - a.path.length)[0]!
  const apart = route.group && route.group !== above.group
  return { name: apart ? '' : above.title, group: route.group ?? above.group!, itself: route.path === above.path }
}
