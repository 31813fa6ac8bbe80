import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { loadAnew } from './deployment.ts'

describe('a part of the page that cannot be had', () => {
  let server: () => Promise<Response>
  const page = { pathname: '/work/1', reload: vi.fn() }

  beforeEach(() => {
    const kept = new Map<string, string>()
    vi.stubGlobal('sessionStorage', { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => kept.set(key, value) })
    vi.stubGlobal('fetch', () => server())
    page.reload.mockClear()
  })
  afterEach(() => vi.unstubAllGlobals())

  it('loads the page anew once where the server answers: it was opened before a deployment', async () => {
    server = async () => new Response('ok')
    await loadAnew(page)
    await loadAnew(page)
    expect(page.reload).toHaveBeenCalledOnce()
  })

  it('leaves the page as it is where the server is away', async () => {
    server = async () => Promise.reject(new TypeError('Failed to fetch'))
    await loadAnew(page)
    server = async () => new Response('bad gateway', { status: 502 })
    await loadAnew(page)
    expect(page.reload).not.toHaveBeenCalled()
  })
})
