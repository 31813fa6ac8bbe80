import { Problem, Unauthenticated } from './client.ts'
import { errorMessage } from './errorMessage.ts'

/** A server resource: loading, loaded, or failed with a reason. */
export class Resource<T> {
  value = $state.raw<T | null>(null)
  error = $state('')
  /** The server has no such object; another request would not help. Set together with `error`. */
  isMissing = false
  isBusy = $state(false)
  #ask: () => Promise<T>
  #latest = 0

  constructor(ask: () => Promise<T>, begin = true) {
    this.#ask = ask
    if (begin) void this.load()
  }

  /** Load, or load again. The old value stays until the reply arrives; the later of two calls counts. */
  async load(ask?: () => Promise<T>): Promise<void> {
    if (ask) this.#ask = ask
    const request = ++this.#latest
    this.isBusy = true
    try {
      const value = await this.#ask()
      if (request !== this.#latest) return
      this.value = value
      this.error = ''
    } catch (error) {
      if (request !== this.#latest) return
      // A sign-in dialog opens over the page, which loads again afterwards.
      this.isMissing = error instanceof Problem && error.status === 404
      this.error = error instanceof Unauthenticated ? 'You are signed out.' : errorMessage(error)
    } finally {
      if (request === this.#latest) this.isBusy = false
    }
  }
}

/** An action on the server: running, done, or failed with a reason. */
export class Mutation {
  isBusy = $state(false)
  error = $state('')
  done = $state('')

  /** Run the action unless it is already running. Return whether it succeeded; `done` is its success message. */
  async run(what: () => Promise<unknown>, done = ''): Promise<boolean> {
    if (this.isBusy) return false
    this.isBusy = true
    this.error = ''
    this.done = ''
    try {
      await what()
      this.done = done
      return true
    } catch (error) {
      this.error = error instanceof Unauthenticated ? 'You are signed out. Sign in and try again.' : errorMessage(error)
      return false
    } finally {
      this.isBusy = false
    }
  }
}
