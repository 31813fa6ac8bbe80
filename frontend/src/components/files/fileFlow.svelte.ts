import type { Schemas } from '../../api/client.ts'
import { upload } from '../../api/upload.ts'
import { Mutation } from '../../api/resource.svelte.ts'
import type { Job } from '../jobs/watch.ts'

export type Faults = Schemas['FileFaults']

/** State of one upload: chosen, sent, checked, confirmed, written (projects/uploads/actions.py). */
export class FileFlow<Found extends { faults: Faults }> {
  file = $state.raw<File | null>(null)
  /** Further files of the same set. */
  others = $state.raw<readonly File[]>([])
  /** Share uploaded, 0 to 1; null if no upload is running. */
  sent = $state<number | null>(null)
  /** The checking job, its result, and the writing job. */
  check = $state<number | null>(null)
  found = $state.raw<Found | null>(null)
  writing = $state<number | null>(null)
  /** Whether the writing job has ended. */
  isWritten = $state(false)
  readonly doing = new Mutation()
  #stop: (() => void) | null = null

  choose(file: File | null | undefined, others: readonly File[] = []): void {
    this.file = file ?? null
    this.others = others
    this.#begin()
    this.doing.error = ''
  }
  #begin(): void {
    this.check = this.writing = this.found = null
  }
  /** Upload the file with form fields; the reply is the job that checks it. */
  async send(address: string, asked: Readonly<Record<string, string>> = {}): Promise<void> {
    const file = this.file
    if (!file) return
    const form = new FormData()
    for (const [name, value] of Object.entries(asked)) form.set(name, value)
    form.set('file', file)
    for (const other of this.others) form.append('others', other)
    this.#begin()
    this.sent = 0
    await this.doing.run(async () => {
      const under = upload<Job>(`/api/v1/${address}`, form, (share) => (this.sent = share))
      this.#stop = under.stop
      try {
        this.check = (await under.reply).id
      } catch (error) {
        if (!(error instanceof DOMException)) throw error
      }
    })
    this.sent = this.#stop = null
  }
  stop(): void {
    this.#stop?.()
  }
  /** Take the result of the check, unless the file is already being written. */
  checked(job: Job): void {
    if (this.writing === null) this.found = job.result as Found
  }
  /** Confirm the checked file; the reply is the job that writes it. */
  async confirm(ask: (job: number) => Promise<{ id: number }>): Promise<void> {
    const job = this.check
    if (job === null) return
    this.isWritten = false
    await this.doing.run(async () => (this.writing = (await ask(job)).id))
  }
}
