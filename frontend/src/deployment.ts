import { answers } from './api/client.ts'

/**
 * Reload the page once if one of its files no longer exists, because the page was opened before a deployment. If the
 * server cannot be reached, do nothing: the person can continue on the loaded page.
 */
export async function loadAnew(place: Pick<Location, 'pathname' | 'reload'> = location): Promise<void> {
  const key = 'concord.reloaded'
  if (sessionStorage.getItem(key) === place.pathname || !(await answers())) return
  sessionStorage.setItem(key, place.pathname)
  place.reload()
}
