/** Comment and flag of a unit in other tabs: the tab that submits must not drop what was entered in another one. */

interface Remarks {
  comment: string
  flag: boolean
}
type Message = Remarks & { user: number; assignment: number }

export class SharedRemarks {
  private assignment = 0
  private known: Remarks = { comment: '', flag: false }
  private readonly channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('concord-remarks')

  /** `received`: another tab has changed the remarks of the current unit. */
  constructor(private readonly user: number, received: (remarks: Remarks) => void) {
    if (!this.channel) return
    this.channel.onmessage = ({ data }: MessageEvent<Message>) => {
      if (data.user !== this.user || data.assignment !== this.assignment) return
      this.known = { comment: data.comment, flag: data.flag }
      received(this.known)
    }
  }

  /** Another unit is shown, with these remarks. */
  loaded(assignment: number, { comment, flag }: Remarks): void {
    this.assignment = assignment
    this.known = { comment, flag }
  }

  /** Send the remarks to the other tabs if they have changed. */
  share({ comment, flag }: Remarks): void {
    if (comment === this.known.comment && flag === this.known.flag) return
    this.known = { comment, flag }
    this.channel?.postMessage({ user: this.user, assignment: this.assignment, comment, flag } satisfies Message)
  }

  close(): void {
    this.channel?.close()
  }
}
