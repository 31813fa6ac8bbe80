import { Offline, Problem } from '../../api/client.ts'

/** Milliseconds until the next poll: short at first, then longer, so that a long job costs few requests. */
export function pause(looks: number): number {
  return Math.min(5000, 400 * 1.4 ** looks)
}

interface Following<T> {
  ask: () => Promise<T>
  /** Whether a reply is the last one. */
  ended: (now: T) => boolean
  onnow: (now: T) => void
  /** The server could not be reached; polling continues. */
  onlost: (why: string) => void
  /** The server refused; polling stops. */
  onerror: (error: Problem) => void
  /** Milliseconds until the next poll; short at first by default. */
  pause?: (looks: number) => number
}

/** Poll until `ended`; pause while the page is hidden. Return a function that stops polling. */
export function follow<T>({ ask, ended, onnow, onlost, onerror, pause: next = pause }: Following<T>): () => void {
  let looks = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let stopped = false
  let waiting = false

  async function poll(): Promise<void> {
    if (stopped || waiting) return
    if (document.hidden) return
    waiting = true
    try {
      const now = await ask()
      if (stopped) return
      onnow(now)
      if (ended(now)) return stop()
    } catch (error) {
      if (stopped) return
      if (error instanceof Offline || (error instanceof Problem && error.status >= 500)) onlost(error.message)
      else if (error instanceof Problem) {
        stop()
        return onerror(error)
      } else throw error
    } finally {
      waiting = false
    }
    clearTimeout(timer)
    timer = setTimeout(() => void poll(), next(looks++))
  }
  function onVisible() {
    if (document.hidden) return clearTimeout(timer)
    looks = 0
    void poll()
  }
  function stop() {
    stopped = true
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', onVisible)
  }
  document.addEventListener('visibilitychange', onVisible)
  void poll()
  return stop
}
