/** The only file that calls fetch. Errors are RFC 9457 problem details, typed. */

import createClient from 'openapi-fetch'
import type { components, operations, paths } from './schema.d.ts'

export type Schemas = components['schemas']
/** What an operation takes after the question mark. */
export type Query<O extends keyof operations> = NonNullable<operations[O]['parameters']['query']>

export interface FieldError {
  field: string
  message: string
}

/** A reply that is not a success. `kind` is the last part of the problem's type; members beyond the standard are in `extra`. */
export class Problem extends Error {
  readonly status: number
  readonly kind: string
  readonly title: string
  readonly detail: string
  readonly errors: FieldError[]
  readonly extra: Record<string, unknown>
  /** Seconds after which the server would take it; null where it does not say. */
  retryAfter: number | null = null

  constructor(status: number, body: Record<string, unknown>) {
    const { type, title, detail, errors, status: _, ...extra } = body
    super(String(detail ?? title ?? `The server answered ${status}.`))
    this.status = status
    this.kind = String(type ?? '').split('/').pop() ?? ''
    this.title = String(title ?? 'The request failed')
    this.detail = this.message
    this.errors = Array.isArray(errors) ? (errors as FieldError[]) : []
    this.extra = extra
  }

  /** What is wrong with one field, as a sentence; empty where nothing is. */
  of(field: string): string {
    return this.errors.filter((e) => e.field === field).map((e) => e.message).join(' ')
  }
}

/** Nobody is signed in, or no longer. */
export class Unauthenticated extends Problem {}
/** The CSRF token is missing or old: fetching the session renews its cookie. */
export class CsrfRefused extends Problem {}
/** The server did not answer at all. */
export class Offline extends Error {
  constructor() {
    super('The server cannot be reached.')
  }
}

/** Whether the server answers at all. */
export async function answers(): Promise<boolean> {
  try {
    return (await fetch('/healthz', { cache: 'no-store' })).ok
  } catch {
    return false
  }
}

type Listener = () => void
const signedOut = new Set<Listener>()
/** Calls `listener` whenever a reply says that nobody is signed in. Returns what takes it off again. */
export function onSignedOut(listener: Listener): () => void {
  signedOut.add(listener)
  return () => signedOut.delete(listener)
}

/** Tells whoever listens that nobody is signed in. */
export const saySignedOut = (): void => signedOut.forEach((f) => f())

/** Read when sending, never kept: signing in changes it under an open page. */
export function csrfToken(): string {
  return /(?:^|;\s*)csrftoken=([^;]*)/.exec(document.cookie)?.[1] ?? ''
}

/** What a reply that is no success says. */
export async function problemOf(response: Response): Promise<Problem> {
  let body: Record<string, unknown> = {}
  try {
    const parsed: unknown = await response.json()
    if (parsed && typeof parsed === 'object' && !Array.isArray(parsed)) body = parsed as Record<string, unknown>
  } catch {
    // A proxy's HTML page: the status says enough.
  }
  if (response.status === 401) return new Unauthenticated(401, body)
  const problem = new Problem(response.status, body)
  const after = Number(response.headers.get('Retry-After') || NaN)
  problem.retryAfter = Number.isFinite(after) ? after : null
  return problem.status === 403 && problem.kind === 'csrf' ? new CsrfRefused(403, body) : problem
}

async function once(request: Request): Promise<Response> {
  if (!/^(GET|HEAD)$/.test(request.method)) request.headers.set('X-CSRFToken', csrfToken())
  let response: Response
  try {
    response = await fetch(request)
  } catch {
    throw new Offline()
  }
  if (response.ok) return response
  throw await problemOf(response)
}

/** Sends a request; renews the CSRF cookie once where that was all that was wrong. */
async function send(request: Request): Promise<Response> {
  const again = request.clone()
  try {
    return await once(request)
  } catch (error) {
    if (error instanceof CsrfRefused) {
      await fetch('/api/v1/session/', { credentials: 'same-origin' }).catch(() => undefined)
      return await once(again)
    }
    // A wrong password is a 401 too, and no reason to ask for a second sign-in.
    if (error instanceof Unauthenticated && !again.url.includes('/api/v1/session/')) saySignedOut()
    throw error
  }
}

/** The typed client: every call resolves to `{ data }` or throws `Problem` or `Offline`. */
export const api = createClient<paths>({
  baseUrl: typeof location === 'undefined' ? 'http://localhost' : location.origin,
  credentials: 'same-origin',
  fetch: send,
})

/** The data of a call that has any. */
export async function data<T>(call: Promise<{ data?: T }>): Promise<T> {
  return (await call).data as T
}

/** Sends an answer's bytes exactly as they were kept: the server knows a repetition by its digest. */
export async function putAnswer(uuid: string, body: string): Promise<Schemas['Submitted']> {
  const request = new Request(new URL(`/api/v1/answers/${uuid}/`, location.origin), {
    method: 'PUT',
    body,
    headers: { 'Content-Type': 'application/json' },
    credentials: 'same-origin',
  })
  return (await (await send(request)).json()) as Schemas['Submitted']
}
