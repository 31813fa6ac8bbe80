/** When a break is offered: after 45 minutes or ten sources, whichever comes first. What it knows ends with the tab. */

export const MINUTES = 45
export const SOURCES = 10

export class Pause {
  private since: number
  private sources = 0

  constructor(private readonly now: () => number = () => Date.now()) {
    this.since = now()
  }

  /** A source is done. */
  done(): void {
    this.sources++
  }

  /** Back from a break. */
  restart(): void {
    this.since = this.now()
    this.sources = 0
  }

  /** What there is to say, or '' while it is early. */
  get offer(): string {
    const minutes = Math.floor((this.now() - this.since) / 60_000)
    if (minutes < MINUTES && this.sources < SOURCES) return ''
    return `${minutes} min at work, ${this.sources} ${this.sources === 1 ? 'source' : 'sources'}. A break now is a good idea.`
  }
}

/** Of this tab. */
export const pause = new Pause()
