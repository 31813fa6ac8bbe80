/** Time of work on one unit: what passes while the page is hidden, or after a minute without any input, is not counted. */

const IDLE_AFTER = 60_000

export class Activity {
  private total = 0
  private last: number

  constructor(private readonly now: () => number = () => performance.now()) {
    this.last = now()
  }

  /** Any input. What lies between two inputs counts up to a minute. */
  touch(): void {
    const at = this.now()
    if (!Number.isNaN(this.last)) this.total += Math.min(at - this.last, IDLE_AFTER)
    this.last = at
  }

  /** The page is hidden: the clock stands until it is seen again. */
  hide(): void {
    this.touch()
    this.last = Number.NaN
  }

  show(): void {
    this.last = this.now()
  }

  /** Begins with a new unit, or with what an earlier visit to this one took. */
  restart(ms = 0): void {
    this.total = ms
    this.last = this.now()
  }

  /** Milliseconds until now. */
  get ms(): number {
    this.touch()
    return Math.round(this.total)
  }
}
