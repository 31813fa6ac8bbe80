import { api, data, Offline, Problem, type Schemas } from '../api/client.ts'

export type Job = Schemas['Job']

/** Milliseconds until the next look: soon at first, then less and less often, so that a long job costs little. */
export function pause(looks: number): number {
  return Math.min(5000, 400 * 1.4 ** looks)
}

export function ended(job: Job): boolean {
  return job.status === 'done' || job.status === 'failed' || job.status === 'cancelled'
}

interface Watch {
  onjob: (job: Job) => void
  /** The server could not be asked; it goes on asking. */
  onlost: (why: string) => void
  /** It cannot be watched at all. */
  onerror: (error: Problem) => void
  look?: (id: number) => Promise<Job>
}

/** Follows a job until it has ended; sleeps while the page is hidden. Returns what stops it. */
export function watch(id: number, { onjob, onlost, onerror, look }: Watch): () => void {
  const ask = look ?? ((job: number) => data(api.GET('/api/v1/jobs/{job_id}/', { params: { path: { job_id: job } } })) as Promise<Job>)
  let looks = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let stopped = false
  let waiting = false

  async function again(): Promise<void> {
    if (stopped || waiting) return
    if (document.hidden) return
    waiting = true
    try {
      const job = await ask(id)
      if (stopped) return
      onjob(job)
      if (ended(job)) return stop()
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
    timer = setTimeout(() => void again(), pause(looks++))
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
