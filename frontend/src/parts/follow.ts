import { Offline, Problem } from '../api/client.ts'

/** Milliseconds until the next look: soon at first, then less and less often, so that long work costs little. */
export function pause(looks: number): number {
  return Math.min(5000, 400 * 1.4 ** looks)
}

interface Following<T> {
  ask: () => Promise<T>
  /** After such a reply nothing more is asked. */
  ended: (now: T) => boolean
  onnow: (now: T) => void
  /** The server could not be asked; it goes on asking. */
  onlost: (why: string) => void
  /** It cannot be followed at all. */
  onerror: (error: Problem) => void
  /** Milliseconds until the next look; soon at first, unless it is said otherwise. */
  pause?: (looks: number) => number
}

/** Asks again and again until it has ended; sleeps while the page is hidden. Returns what stops it. */
export function follow<T>({ ask, ended, onnow, onlost, onerror, pause: next = pause }: Following<T>): () => void {
  let looks = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let stopped = false
  let waiting = false

  async function again(): Promise<void> {
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
    timer = setTimeout(() => void again(), next(looks++))
  }
  function shown() {
    if (document.hidden) return clearTimeout(timer)
    looks = 0
    void again()
  }
  function stop() {
    stopped = true
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', shown)
  }
  document.addEventListener('visibilitychange', shown)
  void again()
  return stop
}
