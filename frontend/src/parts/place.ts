/** Where one was on a page, kept with its step of the history: Back leads there as soon as there is so much to show. */

/** So long a page is waited for, in milliseconds; its contents are asked for anew. */
const PATIENCE = 10_000

/** Before another page is gone to. */
export function leavePlace(): void {
  history.replaceState({ ...(history.state as object | null), y: Math.round(scrollY) }, '')
}

/** After a step back or forward. Whoever moves meanwhile stays where they went. */
export function comeBackToPlace(): void {
  const y = (history.state as { y?: number } | null)?.y
  if (!y) return
  const end = performance.now() + PATIENCE
  const moved = new AbortController()
  for (const event of ['wheel', 'touchmove', 'keydown', 'pointerdown']) {
    addEventListener(event, () => moved.abort(), { once: true, passive: true, signal: moved.signal })
  }
  const look = () => {
    if (moved.signal.aborted) return
    if (document.documentElement.scrollHeight < y + innerHeight && performance.now() < end) return void requestAnimationFrame(look)
    moved.abort()
    scrollTo(0, y)
  }
  requestAnimationFrame(look)
}
