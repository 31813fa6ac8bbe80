/** Active time on one unit, without time while the page is hidden or after a minute without input. */

const IDLE_AFTER = 60_000

export class Activity {
  private total = 0
  private last: number

  constructor(private readonly now: () => number = () => performance.now()) {
    this.last = now()
  }

  /** Call on any input. At most a minute between two inputs counts. */
  touch(): void {
    const at = this.now()
    if (!Number.isNaN(this.last)) this.total += Math.min(at - this.last, IDLE_AFTER)
    this.last = at
  }

  /** Call when the page is hidden: no time counts until it is visible again. */
  hide(): void {
    this.touch()
    this.last = Number.NaN
  }

  show(): void {
    this.last = this.now()
  }

  /** Restart for a new unit, or with the time of an earlier visit. */
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
