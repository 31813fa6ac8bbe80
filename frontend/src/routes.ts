/** Pages by address. Each is loaded when it is first needed, so that Work does not pay for the others. */

import type { Component } from 'svelte'
import { leavePlace } from './parts/place.ts'
import type { Verb } from './session.svelte.ts'

export type Params = Record<string, string>

/** The four groups of a project's pages, in their order. */
export const groups = ['Project', 'Data', 'Annotation', 'Evaluation'] as const
export type Group = (typeof groups)[number]

export interface Route {
  /** `:name` takes one part of the address and hands it to the page as a property. */
  path: string
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a page's properties are its path's names.
  page: () => Promise<{ default: Component<any> }>
  title: string
  /** Also for those who are not signed in. */
  open?: boolean
  /** The page brings its own header. */
  bare?: boolean
  /** Its name in the navigation of a project; the path must then have `:project`. */
  nav?: string
  /** The group of pages that it belongs to; one without belongs where the page above it does. */
  group?: Group
  /** Where the guides tell of it: guide#section. */
  guide?: string
  /** Who does not may this, does not see it in the navigation. */
  may?: Verb
}

export const routes: Route[] = [
  { path: '/', guide: 'annotator', page: () => import('./pages/MyWork.svelte'), title: 'My work' },
  { path: '/work/:round', guide: 'annotator#one-proposition', page: () => import('./pages/Work.svelte'), title: 'Work', bare: true },
  { path: '/sign-in', page: () => import('./pages/SignIn.svelte'), title: 'Sign in', open: true },
  { path: '/enter', page: () => import('./pages/Enter.svelte'), title: 'Sign in', open: true },
  { path: '/join', page: () => import('./pages/Join.svelte'), title: 'You are invited', open: true },
  { path: '/guide/:guide', page: () => import('./pages/Guide.svelte'), title: 'Guide' },
  { path: '/take', page: () => import('./pages/Take.svelte'), title: 'Take part', open: true },
  { path: '/profile', page: () => import('./pages/Profile.svelte'), title: 'Profile' },
  { path: '/projects', guide: 'lead#from-nothing-to-a-release', page: () => import('./pages/Projects.svelte'), title: 'Projects' },
  { path: '/projects/:project', guide: 'lead#from-nothing-to-a-release', page: () => import('./pages/Project.svelte'), title: 'Project', group: 'Project', nav: 'Overview' },
  { path: '/projects/:project/corpus', page: () => import('./pages/Corpus.svelte'), title: 'Corpus', group: 'Data', nav: 'Corpus', may: 'read the corpus' },
  { path: '/projects/:project/corpus/:cluster', guide: 'lead#correcting-one-value', page: () => import('./pages/Cluster.svelte'), title: 'Cluster' },
  { path: '/projects/:project/units/:unit', page: () => import('./pages/UnitPlace.svelte'), title: 'Unit', group: 'Data' },
  { path: '/projects/:project/import', guide: 'lead#bringing-the-corpus-in', page: () => import('./pages/Import.svelte'), title: 'Import', group: 'Data', nav: 'Import', may: 'bring data in' },
  { path: '/projects/:project/import/:imported', page: () => import('./pages/Imported.svelte'), title: 'Import' },
  { path: '/projects/:project/search', guide: 'lead#searching-pubmed', page: () => import('./pages/Search.svelte'), title: 'Search PubMed', group: 'Data', nav: 'Search', may: 'bring data in' },
  { path: '/projects/:project/evidence', guide: 'lead#ranking-sentences', page: () => import('./pages/Evidence.svelte'), title: 'Evidence', group: 'Data', nav: 'Evidence', may: 'curate' },
  { path: '/projects/:project/look-again', guide: 'lead#when-a-text-or-a-tuple-was-wrong', page: () => import('./pages/NeedsReview.svelte'), title: 'Needs review', group: 'Data', nav: 'Needs review', may: 'curate' },
  { path: '/projects/:project/consistency', guide: 'lead#labels-that-look-wrong', page: () => import('./pages/Consistency.svelte'), title: 'Consistency', group: 'Data', nav: 'Consistency', may: 'curate' },
  { path: '/projects/:project/reviews/:review/curate', page: () => import('./pages/Curate.svelte'), title: 'Curate', group: 'Data' },
  { path: '/projects/:project/rounds', guide: 'lead#rounds', page: () => import('./pages/Rounds.svelte'), title: 'Rounds', group: 'Annotation', nav: 'Rounds', may: 'read rounds' },
  { path: '/projects/:project/rounds/new', guide: 'lead#rounds', page: () => import('./pages/NewRound.svelte'), title: 'New round' },
  { path: '/projects/:project/rounds/:round', guide: 'lead#rounds', page: () => import('./pages/Round.svelte'), title: 'Round' },
  { path: '/projects/:project/rounds/:round/adjudicate', guide: 'lead#adjudication', page: () => import('./pages/Adjudicate.svelte'), title: 'Adjudicate', bare: true, may: 'curate' },
  { path: '/projects/:project/rounds/:round/agreement', guide: 'lead#agreement', page: () => import('./pages/Agreement.svelte'), title: 'Agreement' },
  { path: '/projects/:project/systems', guide: 'lead#systems-and-runs', page: () => import('./pages/Systems.svelte'), title: 'Systems', group: 'Evaluation', nav: 'Systems', may: 'read systems and results' },
  { path: '/projects/:project/systems/new', guide: 'lead#systems-and-runs', page: () => import('./pages/NewVersion.svelte'), title: 'New system' },
  { path: '/projects/:project/systems/outputs', guide: 'lead#systems-and-runs', page: () => import('./pages/Outputs.svelte'), title: 'Outputs side by side' },
  { path: '/projects/:project/systems/runs/:run', guide: 'lead#systems-and-runs', page: () => import('./pages/Run.svelte'), title: 'Run' },
  { path: '/projects/:project/systems/:system', guide: 'lead#systems-and-runs', page: () => import('./pages/System.svelte'), title: 'System' },
  { path: '/projects/:project/systems/:system/new', guide: 'lead#systems-and-runs', page: () => import('./pages/NewVersion.svelte'), title: 'New version' },
  { path: '/projects/:project/protocols', guide: 'lead#rating-protocols', page: () => import('./pages/Protocols.svelte'), title: 'Protocols', group: 'Evaluation', nav: 'Protocols', may: 'read rounds' },
  { path: '/projects/:project/protocols/:version', guide: 'lead#rating-protocols', page: () => import('./pages/Protocol.svelte'), title: 'Protocol' },
  { path: '/projects/:project/results', guide: 'lead#results', page: () => import('./pages/Results.svelte'), title: 'Results', group: 'Evaluation', nav: 'Results', may: 'read systems and results' },
  { path: '/projects/:project/releases', guide: 'lead#releases', page: () => import('./pages/Releases.svelte'), title: 'Releases', group: 'Data', nav: 'Releases', may: 'read releases' },
  { path: '/projects/:project/releases/:release', guide: 'lead#releases', page: () => import('./pages/Release.svelte'), title: 'Release' },
  { path: '/projects/:project/reliability', guide: 'lead#reliability-study', page: () => import('./pages/ReliabilityStudy.svelte'), title: 'Reliability study', group: 'Annotation', nav: 'Reliability study', may: 'curate' },
  { path: '/projects/:project/guidelines', guide: 'lead#guidelines', page: () => import('./pages/Guidelines.svelte'), title: 'Guidelines', group: 'Annotation', nav: 'Guidelines' },
  { path: '/projects/:project/inbox', page: () => import('./pages/Inbox.svelte'), title: 'Inbox', group: 'Annotation', nav: 'Inbox', may: 'curate' },
  { path: '/projects/:project/people', guide: 'lead#people', page: () => import('./pages/People.svelte'), title: 'People', group: 'Project', nav: 'People', may: 'see names' },
  { path: '/projects/:project/settings', guide: 'lead#from-nothing-to-a-release', page: () => import('./pages/Settings.svelte'), title: 'Settings', group: 'Project', nav: 'Settings', may: 'change the project' },
]

/** The route of an address and its parameters, or null. */
export function find(pathname: string, among: readonly Route[] = routes): { route: Route; params: Params } | null {
  const parts = pathname.replace(/\/+$/, '').split('/')
  for (const route of among) {
    const wanted = route.path.replace(/\/+$/, '').split('/')
    if (wanted.length !== parts.length) continue
    const params: Params = {}
    const fits = wanted.every((w, i) => {
      if (!w.startsWith(':')) return w === parts[i]
      params[w.slice(1)] = decodeURIComponent(parts[i]!)
      return parts[i] !== ''
    })
    if (fits) return { route, params }
  }
  return null
}

/** Goes to an address of this application without loading the page anew. */
export function go(href: string, replace = false): void {
  if (!replace) leavePlace()
  history[replace ? 'replaceState' : 'pushState'](null, '', href)
  dispatchEvent(new PopStateEvent('popstate'))
}

/** Whether the page may be left: nothing in it asks before (`parts/leaving.ts`), or the person says so. */
export const mayLeave = (): boolean => dispatchEvent(new Event('leaving', { cancelable: true }))

/** Whether a click on a link is ours to follow. */
export function followed(event: MouseEvent): string | null {
  const link = (event.target as Element | null)?.closest?.('a')
  if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return null
  if (link.target || link.hasAttribute('download') || link.origin !== location.origin || !find(link.pathname)) return null
  // A link within the page is the browser's.
  if (link.hash && link.pathname === location.pathname && link.search === location.search) return null
  return link.pathname + link.search + link.hash
}

/**
 * The address where it is one of ours, else the first page: never an address that somebody put into a link. Read as a
 * browser reads it, which drops tabs and line ends: "/<tab>/evil.example" is another host.
 */
export function ownAddress(asked: string, origin = location.origin): string {
  if (!asked.startsWith('/')) return '/'
  try {
    const read = new URL(asked, origin)
    return read.origin === origin && !read.pathname.startsWith('//') ? read.pathname + read.search + read.hash : '/'
  } catch {
    return '/'
  }
}
