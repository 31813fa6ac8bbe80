import type { Schemas } from '../../api/client.ts'
import type { Resource } from '../../api/resource.svelte.ts'
import { count, moment } from '../format.ts'
import { follow } from './follow.ts'

/** Figures that a job computes after changes. */
interface Stored {
  as_of: string | null
  job: Schemas['Job'] | null
}

const isPending = (stored: Stored | null) => stored?.job?.status === 'queued' || stored?.job?.status === 'running'

/** "as of 27 Nov 2026, 14:05; being updated", "being computed: reading texts, 200 of 2,000". */
export function currency({ as_of, job }: Stored): string {
  if (as_of) return `as of ${moment(as_of)}${!job ? '' : job.status === 'queued' || job.status === 'running' ? '; being updated' : '; the update failed'}`
  if (!job || job.status === 'queued') return 'being computed'
  if (job.status !== 'running') return `not computed: ${job.error || 'the job was cancelled'}`
  return `being computed${job.note ? `: ${job.note}` : ''}${job.total ? `, ${count(job.done ?? 0)} of ${count(job.total)}` : ''}`
}

/** Reload figures while a job computes them. Call it while a component is created. */
export function followStored(from: Resource<Stored>): void {
  const pending = $derived(isPending(from.value))
  $effect(() => {
    if (!pending) return
    async function ask() {
      await from.load()
      return from.value
    }
    // The resource keeps its errors and its last figures.
    return follow({ ask, ended: (now) => !isPending(now), onnow: () => undefined, onlost: () => undefined, onerror: () => undefined })
  })
}
