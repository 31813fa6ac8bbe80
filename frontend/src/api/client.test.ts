import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { CsrfRefused, Offline, onSignedOut, Problem, putAnswer, Unauthenticated } from './client.ts'

const replies: (Response | Error)[] = []
const sent: Request[] = []

function problem(status: number, type: string, more = {}): Response {
  return new Response(JSON.stringify({ type: `/problems/${type}`, title: 'No', status, detail: 'Because.', ...more }), { status })
}

beforeEach(() => {
  sent.length = replies.length = 0
  vi.stubGlobal('location', { origin: 'http://concord.test' })
  vi.stubGlobal('document', { cookie: 'a=b; csrftoken=first' })
  vi.stubGlobal('fetch', async (r: Request | string) => {
    if (typeof r === 'string') {
      vi.stubGlobal('document', { cookie: 'csrftoken=renewed' })
      return new Response('{}')
    }
    sent.push(r)
    const reply = replies.shift()
    if (reply instanceof Error) throw reply
    return reply
  })
})
afterEach(() => vi.unstubAllGlobals())

describe('client', () => {
  it('sends exactly the bytes it was given, with the CSRF cookie read at that moment', async () => {
    replies.push(new Response('{"held":[2]}'))
    expect(await putAnswer('u', '{"a": 1 }')).toEqual({ held: [2] })
    expect(await sent[0]!.text()).toBe('{"a": 1 }')
    expect(sent[0]!.headers.get('X-CSRFToken')).toBe('first')
  })

  it('renews the CSRF cookie once and sends the same bytes again', async () => {
    replies.push(problem(403, 'csrf'), new Response('{"held":[]}'))
    await putAnswer('u', '{}')
    expect(sent.map((r) => r.headers.get('X-CSRFToken'))).toEqual(['first', 'renewed'])
    expect(await sent[1]!.text()).toBe('{}')
    replies.push(problem(403, 'csrf'), problem(403, 'csrf'))
    await expect(putAnswer('u', '{}')).rejects.toBeInstanceOf(CsrfRefused)
  })

  it('tells a lost session, a forbidden one and a lost connection apart', async () => {
    const heard = vi.fn()
    const off = onSignedOut(heard)
    replies.push(problem(401, 'not-authenticated'))
    await expect(putAnswer('u', '{}')).rejects.toBeInstanceOf(Unauthenticated)
    expect(heard).toHaveBeenCalledTimes(1)
    replies.push(problem(403, 'forbidden'))
    await expect(putAnswer('u', '{}')).rejects.toMatchObject({ status: 403, kind: 'forbidden' })
    replies.push(new TypeError('network'))
    await expect(putAnswer('u', '{}')).rejects.toBeInstanceOf(Offline)
    replies.push(new Response('', { headers: { 'Content-Length': '0' } }))
    await expect(putAnswer('u', '{}'), 'an empty reply of the proxy').rejects.toBeInstanceOf(Offline)
    expect(heard).toHaveBeenCalledTimes(1)
    off()
  })

  it('carries the fields that were refused and what a conflict says beyond the standard', async () => {
    replies.push(problem(409, 'stale-revision', { current: { revision: 3 }, errors: [{ field: 'value', message: 'Old.' }] }))
    const error = (await putAnswer('u', '{}').catch((e: unknown) => e)) as Problem
    expect(error.kind).toBe('stale-revision')
    expect(error.extra).toEqual({ current: { revision: 3 } })
    expect(error.of('value')).toBe('Old.')
  })

  it('makes a problem of a page of HTML', async () => {
    replies.push(new Response('<h1>Bad gateway</h1>', { status: 502 }))
    await expect(putAnswer('u', '{}')).rejects.toMatchObject({ status: 502, kind: '' })
  })
})
