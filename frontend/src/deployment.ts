import { answers } from './api/client.ts'

/**
 * Load the page anew, once, where a part of it is gone for good: it was opened before a deployment. A part that cannot
 * be had because the server is away is no such part: whoever works goes on without it, and keeps the page.
 */
export async function loadAnew(place: Pick<Location, 'pathname' | 'reload'> = location): Promise<void> {
  const key = 'concord.reloaded'
  if (sessionStorage.getItem(key) === place.pathname || !(await answers())) return
  sessionStorage.setItem(key, place.pathname)
  place.reload()
}
