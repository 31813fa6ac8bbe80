/** Suggest a break after 45 minutes or ten sources. The state is per tab. */

export const MINUTES = 45
export const SOURCES = 10

export class Pause {
  private since: number
  private sources = 0

  constructor(private readonly now: () => number = () => Date.now()) {
    this.since = now()
  }

  /** Count a completed source. */
  done(): void {
    this.sources++
  }

  /** Restart after a break. */
  restart(): void {
    this.since = this.now()
    this.sources = 0
  }

  /** The suggestion, or ''. */
  get offer(): string {
    const minutes = Math.floor((this.now() - this.since) / 60_000)
    if (minutes < MINUTES && this.sources < SOURCES) return ''
    return `${minutes} min at work, ${this.sources} ${this.sources === 1 ? 'source' : 'sources'}. Consider a break.`
  }
}

/** State of this tab. */
export const pause = new Pause()
