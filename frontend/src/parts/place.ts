/** Where one was on a page, kept with its step of the history: Back leads there as soon as there is so much to show. */

/** So long a page is waited for, in milliseconds; its contents are asked for anew. */
const PATIENCE = 10_000
/** So long for all of it: what comes later above the place would push it down. */
const SOON = 2_000

interface Place {
  y: number
  /** Of the whole page. */
  height: number
}

/** Before another page is gone to. */
export function leavePlace(): void {
  const place: Place = { y: Math.round(scrollY), height: document.documentElement.scrollHeight }
  history.replaceState({ ...(history.state as object | null), ...place }, '')
}

/** After a step back or forward. Whoever moves meanwhile stays where they went. */
export function comeBackToPlace(): void {
  const { y, height = 0 } = (history.state ?? {}) as Partial<Place>
  if (!y) return
  const start = performance.now()
  const moved = new AbortController()
  for (const event of ['wheel', 'touchmove', 'keydown', 'pointerdown']) {
    addEventListener(event, () => moved.abort(), { once: true, passive: true, signal: moved.signal })
  }
  const look = () => {
    if (moved.signal.aborted) return
    const waited = performance.now() - start
    const enough = waited < SOON ? Math.max(height, y + innerHeight) : y + innerHeight
    if (document.documentElement.scrollHeight < enough && waited < PATIENCE) return void requestAnimationFrame(look)
    moved.abort()
    scrollTo(0, y)
  }
  requestAnimationFrame(look)
}
