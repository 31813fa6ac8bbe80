/** Pages by address. Each is loaded on first use, so that the Work page loads fast. */

import type { Component } from 'svelte'
import { saveScrollPosition } from './shell/scrollPosition.ts'
import type { Verb } from './session.svelte.ts'

export type Params = Record<string, string>

/** The groups of a project's pages, in their order. */
export const groups = ['Project', 'Data', 'Annotation', 'Evaluation', 'Releases'] as const
export type Group = (typeof groups)[number]

export interface Route {
  /** `:name` matches one part of the address, which becomes a property of the page. */
  path: string
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a page's properties are its path's names.
  page: () => Promise<{ default: Component<any> }>
  title: string
  /** Whether the page is public. */
  open?: boolean
  /** Whether the page has its own header. */
  bare?: boolean
  /** Whether the navigation of a project lists it; the path must then have `:project`. */
  nav?: boolean
  /** Group in the navigation; a page without one belongs to the group of its parent. */
  group?: Group
  /** Permission needed to open the page, and to see it in the navigation. */
  may?: Verb
}

export const routes: Route[] = [
  { path: '/', page: () => import('./pages/MyWork/MyWork.svelte'), title: 'My work' },
  { path: '/work/:round', page: () => import('./pages/Work/Work.svelte'), title: 'Work', bare: true },
  { path: '/sign-in', page: () => import('./pages/SignIn.svelte'), title: 'Sign in', open: true },
  { path: '/enter', page: () => import('./pages/Enter.svelte'), title: 'Sign in', open: true },
  { path: '/join', page: () => import('./pages/Join.svelte'), title: 'Invitation', open: true },
  { path: '/guide/:guide', page: () => import('./pages/Guide.svelte'), title: 'Guide' },
  { path: '/take', page: () => import('./pages/Take.svelte'), title: 'Participate', open: true },
  { path: '/profile', page: () => import('./pages/Profile/Profile.svelte'), title: 'Profile' },
  { path: '/projects', page: () => import('./pages/Projects.svelte'), title: 'Projects' },
  { path: '/projects/:project', page: () => import('./pages/Project/Project.svelte'), title: 'Overview', group: 'Project', nav: true },
  { path: '/projects/:project/corpus', page: () => import('./pages/Corpus/Corpus.svelte'), title: 'Corpus', group: 'Data', nav: true, may: 'read the corpus' },
  { path: '/projects/:project/corpus/:cluster', page: () => import('./pages/Cluster/Cluster.svelte'), title: 'Cluster' },
  { path: '/projects/:project/origin/:unit', page: () => import('./pages/Origin/Origin.svelte'), title: 'Origin', group: 'Data', may: 'read the corpus' },
  { path: '/projects/:project/units/:unit', page: () => import('./pages/UnitRedirect.svelte'), title: 'Unit', group: 'Data' },
  { path: '/projects/:project/import', page: () => import('./pages/Import/Import.svelte'), title: 'Import', group: 'Data', nav: true, may: 'import data' },
  { path: '/projects/:project/import/:imported', page: () => import('./pages/Imported.svelte'), title: 'Import' },
  { path: '/projects/:project/pubmed', page: () => import('./pages/Search/Search.svelte'), title: 'PubMed', group: 'Data', nav: true, may: 'import data' },
  { path: '/projects/:project/ranking', page: () => import('./pages/Evidence/Evidence.svelte'), title: 'Sentence ranking', group: 'Data', nav: true, may: 'curate' },
  { path: '/projects/:project/readings', page: () => import('./pages/Readings/Readings.svelte'), title: 'Machine readings', group: 'Data', nav: true, may: 'register and run systems' },
  { path: '/projects/:project/needs-review', page: () => import('./pages/NeedsReview/NeedsReview.svelte'), title: 'Needs review', group: 'Data', nav: true, may: 'curate' },
  { path: '/projects/:project/reviews/:review', page: () => import('./pages/Review/Review.svelte'), title: 'Review', group: 'Data', may: 'read the corpus' },
  { path: '/projects/:project/studies/:study', page: () => import('./pages/Study/Study.svelte'), title: 'Study', group: 'Data', may: 'read the corpus' },
  { path: '/projects/:project/reviews/:review/curate', page: () => import('./pages/Curate/Curate.svelte'), title: 'Curate', group: 'Data' },
  { path: '/projects/:project/rounds', page: () => import('./pages/Rounds/Rounds.svelte'), title: 'Rounds', group: 'Annotation', nav: true, may: 'read rounds' },
  { path: '/projects/:project/rounds/new', page: () => import('./pages/NewRound/NewRound.svelte'), title: 'New round', may: 'open, change and close rounds' },
  { path: '/projects/:project/rounds/:round', page: () => import('./pages/Round/Round.svelte'), title: 'Round' },
  { path: '/projects/:project/rounds/:round/adjudicate', page: () => import('./pages/Adjudicate/Adjudicate.svelte'), title: 'Adjudicate', may: 'curate' },
  { path: '/projects/:project/rounds/:round/agreement', page: () => import('./pages/Agreement/Agreement.svelte'), title: 'Agreement' },
  { path: '/projects/:project/suggestions', page: () => import('./pages/Suggestions/Suggestions.svelte'), title: 'Suggestions', group: 'Annotation', nav: true, may: 'open, change and close rounds' },
  { path: '/projects/:project/writers', page: () => import('./pages/Agreement/AllWriters.svelte'), title: 'Agreement between writers', group: 'Annotation', may: 'read the corpus' },
  { path: '/projects/:project/systems', page: () => import('./pages/Systems.svelte'), title: 'Systems', group: 'Evaluation', nav: true, may: 'read systems and results' },
  { path: '/projects/:project/systems/new', page: () => import('./pages/NewVersion/NewVersion.svelte'), title: 'New system', may: 'register and run systems' },
  { path: '/projects/:project/systems/outputs', page: () => import('./pages/Outputs/Outputs.svelte'), title: 'Outputs side by side' },
  { path: '/projects/:project/systems/runs/:run', page: () => import('./pages/Run/Run.svelte'), title: 'Run' },
  { path: '/projects/:project/systems/:system', page: () => import('./pages/System/System.svelte'), title: 'System' },
  { path: '/projects/:project/systems/:system/new', page: () => import('./pages/NewVersion/NewVersion.svelte'), title: 'New version', may: 'register and run systems' },
  { path: '/projects/:project/trainings', page: () => import('./pages/Trainings/Trainings.svelte'), title: 'Trainings', group: 'Evaluation', nav: true, may: 'register and run systems' },
  { path: '/projects/:project/trainings/new', page: () => import('./pages/Trainings/NewTraining.svelte'), title: 'New training' },
  { path: '/projects/:project/trainings/:training', page: () => import('./pages/Trainings/Training.svelte'), title: 'Training' },
  { path: '/projects/:project/protocols', page: () => import('./pages/Protocols.svelte'), title: 'Protocols', group: 'Evaluation', nav: true, may: 'read rounds' },
  { path: '/projects/:project/protocols/:version', page: () => import('./pages/Protocol/Protocol.svelte'), title: 'Protocol' },
  { path: '/projects/:project/judges', page: () => import('./pages/Judges/Judges.svelte'), title: 'Judges', group: 'Evaluation', nav: true, may: 'add endpoints and run judges' },
  { path: '/projects/:project/judges/new', page: () => import('./pages/Judges/NewJudge.svelte'), title: 'New judge', may: 'add endpoints and run judges' },
  { path: '/projects/:project/judges/runs/:run', page: () => import('./pages/Judges/JudgeRun.svelte'), title: 'Judge run', may: 'add endpoints and run judges' },
  { path: '/projects/:project/judges/:judge', page: () => import('./pages/Judges/Judge.svelte'), title: 'Judge', may: 'add endpoints and run judges' },
  { path: '/projects/:project/results', page: () => import('./pages/Results/Results.svelte'), title: 'Results', group: 'Evaluation', nav: true, may: 'read systems and results' },
  { path: '/projects/:project/releases', page: () => import('./pages/Releases.svelte'), title: 'Releases', group: 'Releases', nav: true, may: 'read releases' },
  { path: '/projects/:project/methods', page: () => import('./pages/Methods/Methods.svelte'), title: 'Methods text', group: 'Releases', nav: true, may: 'see who answered what' },
  { path: '/projects/:project/splits', page: () => import('./pages/Splits/Splits.svelte'), title: 'Splits', group: 'Releases', nav: true, may: 'read releases' },
  { path: '/projects/:project/releases/:release', page: () => import('./pages/Release.svelte'), title: 'Release' },
  { path: '/projects/:project/releases/:release/row', page: () => import('./pages/Origin/ReleasedRow.svelte'), title: 'Origin of a row', may: 'read the corpus' },
  { path: '/projects/:project/guidelines', page: () => import('./pages/Guidelines/Guidelines.svelte'), title: 'Guidelines', group: 'Annotation', nav: true },
  { path: '/projects/:project/inbox', page: () => import('./pages/Inbox.svelte'), title: 'Inbox', group: 'Annotation', nav: true, may: 'curate' },
  { path: '/projects/:project/people', page: () => import('./pages/People/People.svelte'), title: 'People', group: 'Project', nav: true, may: 'see names' },
  { path: '/projects/:project/settings', page: () => import('./pages/Settings/Settings.svelte'), title: 'Settings', group: 'Project', nav: true, may: 'change the project' },
]

/** Earlier paths of pages, by the last part of the address, and their present ones. */
const MOVED: Record<string, string> = { search: 'pubmed', evidence: 'ranking', consistency: 'needs-review?tab=labels', reliability: 'rounds/new?purpose=reliability' }

/** The present address of a page that has moved, or null. */
export function moved({ pathname, search, hash }: Pick<Location, 'pathname' | 'search' | 'hash'>): string | null {
  const [, start, last] = /^(\/projects\/[^/]+\/)([^/]+)\/?$/.exec(pathname) ?? []
  const to = last && Object.hasOwn(MOVED, last) ? MOVED[last]! : ''
  return to ? `${start}${to}${to.includes('?') ? search.replace('?', '&') : search}${hash}` : null
}

/** The route of an address and its parameters, or null. */
export function find(pathname: string, among: readonly Route[] = routes): { route: Route; params: Params } | null {
  const parts = pathname.replace(/\/+$/, '').split('/')
  for (const route of among) {
    const wanted = route.path.replace(/\/+$/, '').split('/')
    if (wanted.length !== parts.length) continue
    const params: Params = {}
    const fits = wanted.every((w, i) => {
      if (!w.startsWith(':')) return w === parts[i]
      try {
        params[w.slice(1)] = decodeURIComponent(parts[i]!)
      } catch {
        return false // a stray percent sign
      }
      return parts[i] !== ''
    })
    if (fits) return { route, params }
  }
  return null
}

/** Navigate within the application without reloading. */
export function go(href: string, replace = false): void {
  if (!replace) saveScrollPosition()
  history[replace ? 'replaceState' : 'pushState'](null, '', href)
  dispatchEvent(new PopStateEvent('popstate'))
}

/** Whether the page can be left: it has no unsaved changes (`components/leaving.ts`), or the person confirms. */
export const mayLeave = (): boolean => dispatchEvent(new Event('leaving', { cancelable: true }))

/** The address of a click on an internal link, or null. */
export function followed(event: MouseEvent): string | null {
  const link = (event.target as Element | null)?.closest?.('a')
  if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return null
  if (link.target || link.hasAttribute('download') || link.origin !== location.origin || !find(link.pathname)) return null
  // The browser handles links within the page.
  if (link.hash && link.pathname === location.pathname && link.search === location.search) return null
  return link.pathname + link.search + link.hash
}

/**
 * The address if it is internal, else the start page: a link must not redirect to another site. Parsed like a browser,
 * which drops tabs and line ends: "/<tab>/evil.example" is another host.
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
