/** Drafts of a question: written soon after a change, at once when the page is left, and shown in other tabs. */

import type { Draft } from './state.ts'

/** Where a person was at a step. */
export interface Position {
  /** Index of the current sentence. */
  readonly unit: number
  readonly top: number
  readonly caret: number | null
}

export interface Stored extends Draft {
  readonly positions: Readonly<Record<number, Position>>
  /** Time in milliseconds. */
  readonly kept: number
}

/** Milliseconds after the last key press in which the draft is written. */
const SOON = 300
type Message = { assignment: number; draft: Stored | null }

interface Options {
  current: () => Stored
  keep: (draft: Stored) => void
  /** Another tab has changed the question. */
  received: (draft: Stored) => void
  submitted: () => void
}

export class DraftKeeper {
  private timer: ReturnType<typeof setTimeout> | undefined
  private closed = false
  private readonly path = globalThis.location?.pathname
  private sent: Stored['entries'] | null = null
  private readonly channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('concord-write')

  constructor(private readonly assignment: number, private readonly options: Options) {
    if (this.channel) this.channel.onmessage = (m: MessageEvent<Message>) => this.receive(m.data)
    globalThis.addEventListener?.('pagehide', this.flush)
    globalThis.document?.addEventListener('visibilitychange', this.flush)
  }

  /** Write the draft after this event, or with `wait` when the person pauses. */
  soon(wait = false): void {
    if (this.closed) return
    const draft = this.options.current()
    // Other tabs learn of a change at once: two tabs that both wait could overwrite each other. A cursor is no change.
    if (draft.entries !== this.sent) this.channel?.postMessage({ assignment: this.assignment, draft } satisfies Message)
    this.sent = draft.entries
    clearTimeout(this.timer)
    this.timer = setTimeout(this.write, wait ? SOON : 0)
  }

  /** Write the draft now if it has changed. */
  readonly flush = (): void => {
    if (this.timer !== undefined) this.write()
  }

  private readonly write = (): void => {
    this.stop()
    if (!this.closed) this.options.keep(this.options.current())
  }

  /** Drop a waiting write, because the unit is left with its state. */
  stop(): void {
    clearTimeout(this.timer)
    this.timer = undefined
  }

  /** The question is submitted: other tabs must not write it. */
  submitted(): void {
    this.stop()
    this.closed = true
    this.channel?.postMessage({ assignment: this.assignment, draft: null } satisfies Message)
  }

  /** Stop. If the page is being left, write the draft first; for another unit on the same page it would be wrong. */
  close(): void {
    if (location.pathname !== this.path) this.flush()
    this.stop()
    this.closed = true
    globalThis.removeEventListener?.('pagehide', this.flush)
    globalThis.document?.removeEventListener('visibilitychange', this.flush)
    this.channel?.close()
  }

  private receive({ assignment, draft }: Message): void {
    if (assignment !== this.assignment || this.closed) return
    if (!draft) this.closed = true
    if (draft) this.options.received(draft)
    else this.options.submitted()
  }
}
