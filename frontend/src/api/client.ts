/** The only file that calls fetch. Errors are RFC 9457 problem details, typed. */

import createClient from 'openapi-fetch'
import type { components, operations, paths } from './schema.d.ts'

export type Schemas = components['schemas']
/** Query parameters of an operation. */
export type Query<O extends keyof operations> = NonNullable<operations[O]['parameters']['query']>

export interface FieldError {
  field: string
  message: string
}

/** An error reply. `kind` is the last part of the problem's type; non-standard members are in `extra`. */
export class Problem extends Error {
  readonly status: number
  readonly kind: string
  readonly title: string
  readonly detail: string
  readonly errors: FieldError[]
  readonly extra: Record<string, unknown>
  /** Seconds from the Retry-After header, or null. */
  retryAfter: number | null = null

  constructor(status: number, body: Record<string, unknown>) {
    const { type, title, detail, errors, status: _, ...extra } = body
    super(String(detail ?? title ?? `Server error ${status}.`))
    this.status = status
    this.kind = String(type ?? '').split('/').pop() ?? ''
    this.title = String(title ?? 'Request failed')
    this.detail = this.message
    this.errors = Array.isArray(errors) ? (errors as FieldError[]) : []
    this.extra = extra
  }

  /** Messages about one field, or empty. */
  of(field: string): string {
    return this.errors.filter((e) => e.field === field).map((e) => e.message).join(' ')
  }
}

/** No user is signed in, or the session has ended. */
export class Unauthenticated extends Problem {}
/** The CSRF token is missing or outdated; fetching the session renews its cookie. */
export class CsrfRefused extends Problem {}
/** The server cannot be reached. */
export class Offline extends Error {
  constructor() {
    super('The server cannot be reached.')
  }
}

/** Whether the server can be reached. */
export async function answers(): Promise<boolean> {
  try {
    return (await fetch('/healthz', { cache: 'no-store' })).ok
  } catch {
    return false
  }
}

type Listener = () => void
const signedOut = new Set<Listener>()
/** Call `listener` whenever a reply says that no user is signed in. Return a function that removes it. */
export function onSignedOut(listener: Listener): () => void {
  signedOut.add(listener)
  return () => signedOut.delete(listener)
}

/** Notify listeners that no user is signed in. */
export const saySignedOut = (): void => signedOut.forEach((f) => f())

/** Read the token for each request, because signing in changes it under an open page. */
export function csrfToken(): string {
  return /(?:^|;\s*)csrftoken=([^;]*)/.exec(document.cookie)?.[1] ?? ''
}

/** The problem in an error reply. */
export async function problemOf(response: Response): Promise<Problem> {
  let body: Record<string, unknown> = {}
  try {
    const parsed: unknown = await response.json()
    if (parsed && typeof parsed === 'object' && !Array.isArray(parsed)) body = parsed as Record<string, unknown>
  } catch {
    // A proxy's HTML page: use the status only.
  }
  if (response.status === 401) return new Unauthenticated(401, body)
  const problem = new Problem(response.status, body)
  const after = Number(response.headers.get('Retry-After') || NaN)
  problem.retryAfter = Number.isFinite(after) ? after : null
  return problem.status === 403 && problem.kind === 'csrf' ? new CsrfRefused(403, body) : problem
}

async function sendOnce(request: Request): Promise<Response> {
  if (!/^(GET|HEAD)$/.test(request.method)) request.headers.set('X-CSRFToken', csrfToken())
  let response: Response
  try {
    response = await fetch(request)
  } catch {
    throw new Offline()
  }
  // Caddy sends an empty 200 over HTTP/1.1 if a body does not arrive in time: Concord has not seen the request.
  const isEmpty = response.status === 200 && response.headers.get('Content-Length') === '0'
  if (isEmpty && !/^(GET|HEAD)$/.test(request.method)) throw new Offline()
  if (response.ok) return response
  throw await problemOf(response)
}

/** Send a request; renew the CSRF cookie and repeat once if it was outdated. */
async function send(request: Request): Promise<Response> {
  const retryRequest = request.clone()
  try {
    return await sendOnce(request)
  } catch (error) {
    if (error instanceof CsrfRefused) {
      await fetch('/api/v1/session/', { credentials: 'same-origin' }).catch(() => undefined)
      return await sendOnce(retryRequest)
    }
    // A wrong password is a 401 too, but must not open the sign-in dialog.
    if (error instanceof Unauthenticated && !retryRequest.url.includes('/api/v1/session/')) saySignedOut()
    throw error
  }
}

/** The typed client: every call resolves to `{ data }` or throws `Problem` or `Offline`. */
export const api = createClient<paths>({
  baseUrl: typeof location === 'undefined' ? 'http://localhost' : location.origin,
  credentials: 'same-origin',
  fetch: send,
})

/** The data of a call. */
export async function data<T>(call: Promise<{ data?: T }>): Promise<T> {
  return (await call).data as T
}

/** Send an answer's bytes exactly as stored, because the server detects repetitions by their digest. */
export async function putAnswer(uuid: string, body: string): Promise<Schemas['Submitted']> {
  const request = new Request(new URL(`/api/v1/answers/${uuid}/`, location.origin), {
    method: 'PUT',
    body,
    headers: { 'Content-Type': 'application/json' },
    credentials: 'same-origin',
  })
  return (await (await send(request)).json()) as Schemas['Submitted']
}
