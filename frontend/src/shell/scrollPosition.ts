/** Scroll position of a page, stored with its history entry: Back restores it as soon as the page is long enough. */

/** Milliseconds to wait for the contents of the page. */
const PATIENCE = 10_000
/** Milliseconds to wait for the full height: contents that load above the position would move it. */
const SOON = 2_000

interface ScrollPosition {
  y: number
  /** Height of the whole page. */
  height: number
}

/** Call before another page opens. */
export function saveScrollPosition(): void {
  const place: ScrollPosition = { y: Math.round(scrollY), height: document.documentElement.scrollHeight }
  history.replaceState({ ...(history.state as object | null), ...place }, '')
}

/** Call after a step back or forward. Scrolling by the person cancels it. */
export function restoreScrollPosition(): void {
  const { y, height = 0 } = (history.state ?? {}) as Partial<ScrollPosition>
  if (!y) return
  const start = performance.now()
  const userMoved = new AbortController()
  for (const event of ['wheel', 'touchmove', 'keydown', 'pointerdown']) {
    addEventListener(event, () => userMoved.abort(), { once: true, passive: true, signal: userMoved.signal })
  }
  const restore = () => {
    if (userMoved.signal.aborted) return
    const waited = performance.now() - start
    const enough = waited < SOON ? Math.max(height, y + innerHeight) : y + innerHeight
    if (document.documentElement.scrollHeight < enough && waited < PATIENCE) return void requestAnimationFrame(restore)
    userMoved.abort()
    scrollTo(0, y)
  }
  requestAnimationFrame(restore)
}
