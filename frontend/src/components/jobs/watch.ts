import { api, data, type Problem, type Schemas } from '../../api/client.ts'
import { follow } from './follow.ts'

export { pause } from './follow.ts'
export type Job = Schemas['JobDetail']

export function isEnded(job: Job): boolean {
  return job.status === 'done' || job.status === 'failed' || job.status === 'cancelled'
}

interface Watch {
  onjob: (job: Job) => void
  onlost: (why: string) => void
  onerror: (error: Problem) => void
  look?: (id: number) => Promise<Job>
}

/** Poll a job until it has ended. Return a function that stops polling. */
export function watch(id: number, { onjob, onlost, onerror, look }: Watch): () => void {
  const loadJob = look ?? ((job: number) => data(api.GET('/api/v1/jobs/{job_id}/', { params: { path: { job_id: job } } })))
  return follow({ ask: () => loadJob(id), ended: isEnded, onnow: onjob, onlost, onerror })
}
