/** The signed-in user and the theme, shared by all pages. */

import { api, data, Offline, onSignedOut, Problem, Unauthenticated, type Schemas } from './api/client.ts'

export type Session = Schemas['Session']
/** A permission in a project, as in the server's table (projects/models/project.py). */
export type Verb = Schemas['VerbEnum']
export type Theme = 'auto' | 'light' | 'dark'

const KEPT = 'concord.session'
const THEME = 'concord.theme'

class Shared {
  /** null: signed out; undefined: not loaded yet. */
  now = $state<Session | null | undefined>(undefined)
  /** The session has ended: a dialog over the page asks to sign in again. */
  askAgain = $state(false)
  /** Whether the last user of this browser came by participant link and has no password. */
  wasGuest = $state(false)
  /** The server cannot be reached; the session is from an earlier visit. */
  stale = $state(false)
  theme = $state<Theme>('auto')

  get singleKeys(): boolean {
    return this.now?.user.preferences.single_keys ?? true
  }
}

export const session = new Shared()

/** Whether the user has a permission in a project. Pages check permissions, never roles. */
export function may(slug: string | undefined, verb: Verb): boolean {
  // A session stored by an earlier release has no permissions.
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
      const stored = localStorage.getItem(KEPT)
      session.wasGuest = stored !== null && (JSON.parse(stored) as Session).user.is_guest
      session.now = null
    } else if (error instanceof Offline || (error instanceof Problem && error.status >= 500)) {
      // Use the stored session, so that people can continue their work until the server is back.
      const stored = localStorage.getItem(KEPT)
      session.stale = true
      session.now = stored ? (JSON.parse(stored) as Session) : null
      setTimeout(() => void loadSession(), 5000)
    } else throw error
  }
}

function take(next: Session | undefined): void {
  if (!next) return
  // Another person has signed in: reload, so that nothing of the previous user stays on the screen.
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
  if (session.now) await (await import('./work/storedAssignments.ts')).deleteAssignments(session.now.user.id)
  localStorage.removeItem(KEPT)
  session.now = null
}

export function applyTheme(theme: Theme): void {
  session.theme = theme
  if (theme === 'auto') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

/** Choose a theme: stored on this computer, where it overrides the profile, and in the profile. */
export function chooseTheme(theme: Theme): void {
  localStorage.setItem(THEME, theme)
  applyTheme(theme)
  // The choice applies here even if the profile cannot be saved.
  if (session.now) api.PATCH('/api/v1/me/', { body: { preferences: { theme } } }).catch(() => undefined)
}

type Preferences = Session['user']['preferences']

/** Change preferences: they apply here at once, even if the profile cannot be saved. */
export function prefer(change: Partial<Preferences>): void {
  if (!session.now) return
  const { user } = session.now
  session.now = { ...session.now, user: { ...user, preferences: { ...user.preferences, ...change } } }
  localStorage.setItem(KEPT, JSON.stringify(session.now))
  api.PATCH('/api/v1/me/', { body: { preferences: change } }).catch(() => undefined)
}

applyTheme((localStorage.getItem(THEME) as Theme | null) ?? 'auto')
