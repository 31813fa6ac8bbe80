import { Problem, Unauthenticated } from '../api/client.ts'
import { errorMessage } from './errorMessage.ts'

/** Something that a page asks the server for: not there yet, there, or not to be had and why. */
export class Loaded<T> {
  value = $state.raw<T | null>(null)
  wrong = $state('')
  /** What was asked for is not there: to ask again brings nothing. It is told with `wrong`. */
  missing = false
  busy = $state(false)
  #ask: () => Promise<T>
  #turn = 0

  constructor(ask: () => Promise<T>, begin = true) {
    this.#ask = ask
    if (begin) void this.load()
  }

  /** Asks (again). What is on the page stays until the reply is there; of two calls the later one counts. */
  async load(ask?: () => Promise<T>): Promise<void> {
    if (ask) this.#ask = ask
    const turn = ++this.#turn
    this.busy = true
    try {
      const value = await this.#ask()
      if (turn !== this.#turn) return
      this.value = value
      this.wrong = ''
    } catch (error) {
      if (turn !== this.#turn) return
      // The page asks for a sign-in over this one, and loads anew after it.
      this.missing = error instanceof Problem && error.status === 404
      this.wrong = error instanceof Unauthenticated ? 'You are signed out.' : errorMessage(error)
    } finally {
      if (turn === this.#turn) this.busy = false
    }
  }
}

/** Something that the page does for the person: busy, done, or refused and why. */
export class Doing {
  busy = $state(false)
  wrong = $state('')
  done = $state('')

  /** Runs it once at a time. `done` is said where it went well. True where it did. */
  async run(what: () => Promise<unknown>, done = ''): Promise<boolean> {
    if (this.busy) return false
    this.busy = true
    this.wrong = ''
    this.done = ''
    try {
      await what()
      this.done = done
      return true
    } catch (error) {
      this.wrong = error instanceof Unauthenticated ? 'You are signed out. Sign in and try again.' : errorMessage(error)
      return false
    } finally {
      this.busy = false
    }
  }
}
