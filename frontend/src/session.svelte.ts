/** Who is signed in, and the theme: the state that every page shares. */

import { api, data, Offline, onSignedOut, Problem, Unauthenticated, type Schemas } from './api/client.ts'

export type Session = Schemas['Session']
/** What is to be done in a project, in the words of the server's table (projects/models/roles.py). */
export type Verb = Schemas['VerbEnum']
export type Theme = 'auto' | 'light' | 'dark'

const KEPT = 'concord.session'
const THEME = 'concord.theme'

class Shared {
  /** null: nobody; undefined: not known yet. */
  now = $state<Session | null | undefined>(undefined)
  /** Somebody was signed in and is no longer: the page asks over what is on it. */
  askAgain = $state(false)
  /** Who was here last in this browser came by a participant link: a password would not help. */
  wasGuest = $state(false)
  /** The server cannot be reached: what is known is from an earlier visit. */
  stale = $state(false)
  theme = $state<Theme>('auto')

  get singleKeys(): boolean {
    return this.now?.user.preferences.single_keys ?? true
  }
}

export const session = new Shared()

/** Whether who is signed in may do this in a project. The pages ask by what is to be done, never by a role. */
export function may(slug: string | undefined, verb: Verb): boolean {
  // What this browser kept of an earlier release tells no verbs.
  return session.now?.projects.find((p) => p.slug === slug)?.may?.includes(verb) ?? false
}

onSignedOut(() => {
  if (session.now) session.askAgain = true
})

export async function loadSession(): Promise<void> {
  try {
    take(await data(api.GET('/api/v1/session/')))
    session.stale = false
  } catch (error) {
    if (error instanceof Unauthenticated) {
      const kept = localStorage.getItem(KEPT)
      session.wasGuest = kept !== null && (JSON.parse(kept) as Session).user.is_guest
      session.now = null
    } else if (error instanceof Offline || (error instanceof Problem && error.status >= 500)) {
      // What was begun can be gone on with, and the saved line can count what is not sent, before the server is back.
      const kept = localStorage.getItem(KEPT)
      session.stale = true
      session.now = kept ? (JSON.parse(kept) as Session) : null
      setTimeout(() => void loadSession(), 5000)
    } else throw error
  }
}

function take(next: Session | undefined): void {
  if (!next) return
  // Another person at the same page: nothing of the first one's may stay on the screen.
  if (session.askAgain && session.now && session.now.user.id !== next.user.id) location.reload()
  session.now = next
  session.askAgain = false
  localStorage.setItem(KEPT, JSON.stringify(next))
  if (!localStorage.getItem(THEME) && next.user.preferences.theme) applyTheme(next.user.preferences.theme)
}

export async function signIn(email: string, password: string): Promise<void> {
  take(await data(api.POST('/api/v1/session/', { body: { email, password } })))
}

export async function signInByLink(token: string): Promise<void> {
  take(await data(api.POST('/api/v1/session/link/', { body: { token } })))
}

export async function signOut(): Promise<void> {
  await api.DELETE('/api/v1/session/')
  session.wasGuest = session.now?.user.is_guest ?? false
  if (session.now) await (await import('./work/keptHand.ts')).dropHands(session.now.user.id)
  localStorage.removeItem(KEPT)
  session.now = null
}

export function applyTheme(theme: Theme): void {
  session.theme = theme
  if (theme === 'auto') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

/** A choice on this computer goes before the one in the profile, and becomes that too. */
export function chooseTheme(theme: Theme): void {
  localStorage.setItem(THEME, theme)
  applyTheme(theme)
  // It holds here whether or not the profile can be reached.
  if (session.now) api.PATCH('/api/v1/me/', { body: { preferences: { theme } } }).catch(() => undefined)
}

type Preferences = Session['user']['preferences']

/** A preference: it holds here at once, whether or not the profile can be reached. */
export function prefer(change: Partial<Preferences>): void {
  if (!session.now) return
  const { user } = session.now
  session.now = { ...session.now, user: { ...user, preferences: { ...user.preferences, ...change } } }
  localStorage.setItem(KEPT, JSON.stringify(session.now))
  api.PATCH('/api/v1/me/', { body: { preferences: change } }).catch(() => undefined)
}

applyTheme((localStorage.getItem(THEME) as Theme | null) ?? 'auto')
