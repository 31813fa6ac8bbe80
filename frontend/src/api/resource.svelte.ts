import { Offline, Problem, Unauthenticated } from './client.ts'
import { errorMessage } from './errorMessage.ts'

/** Why a resource could not be loaded; empty if it was. */
export type Failure = '' | 'missing' | 'forbidden' | 'down' | 'server' | 'other'

function failureOf(error: unknown): Failure {
  if (error instanceof Offline) return 'down'
  if (!(error instanceof Problem)) return 'other'
  // A proxy's reply while the server restarts.
  if (error.status === 502 || error.status === 503 || error.status === 504) return 'down'
  return error.status === 404 ? 'missing' : error.status === 403 ? 'forbidden' : error.status >= 500 ? 'server' : 'other'
}

/** A server resource: loading, loaded, or failed with a reason. */
export class Resource<T> {
  value = $state.raw<T | null>(null)
  error = $state('')
  failure = $state<Failure>('')
  /** Headline of a refusal by the server. */
  headline = $state('')
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
      this.failure = ''
    } catch (error) {
      if (request !== this.#latest) return
      this.fail(error)
    } finally {
      if (request === this.#latest) this.isBusy = false
    }
  }

  /** Store why the resource could not be loaded. Errors that are bugs of the page are thrown again. */
  fail(error: unknown): void {
    this.failure = failureOf(error)
    this.headline = error instanceof Problem ? error.title : ''
    // A sign-in dialog opens over the page, which loads again afterwards.
    this.error = error instanceof Unauthenticated ? 'You are signed out.' : errorMessage(error)
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
