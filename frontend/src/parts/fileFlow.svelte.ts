import type { Schemas } from '../api/client.ts'
import { upload } from '../api/upload.ts'
import { Doing } from './loaded.svelte.ts'
import type { Job } from './watch.ts'

export type Faults = Schemas['FileFaults']

/** One file on its way: chosen, sent, checked, shown with its faults, confirmed, written (projects/uploads/flow.py). */
export class FileFlow<Found extends { faults: Faults }> {
  file = $state.raw<File | null>(null)
  /** Those that are taken with it as one set. */
  others = $state.raw<readonly File[]>([])
  /** The share that is sent, 0 to 1, while it is being sent. */
  sent = $state<number | null>(null)
  /** The job that checks, what it found, and the job that writes what was confirmed. */
  check = $state<number | null>(null)
  found = $state.raw<Found | null>(null)
  writing = $state<number | null>(null)
  readonly doing = new Doing()
  #stop: (() => void) | null = null

  choose(file: File | null | undefined, others: readonly File[] = []): void {
    this.file = file ?? null
    this.others = others
    this.#begin()
    this.doing.wrong = ''
  }
  #begin(): void {
    this.check = this.writing = this.found = null
  }
  /** Sends the file with what is asked beside it; the reply is the job that checks it. */
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
  /** The check has ended. Not once the file is being written: what came of that is shown then. */
  checked(job: Job): void {
    if (this.writing === null) this.found = job.result as Found
  }
  /** Confirms what was checked; the reply is the job that writes it. */
  async confirm(ask: (job: number) => Promise<{ id: number }>): Promise<void> {
    const job = this.check
    if (job !== null) await this.doing.run(async () => (this.writing = (await ask(job)).id))
  }
}
