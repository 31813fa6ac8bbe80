import { expect, it } from 'vitest'
import { find, ownAddress, type Route } from './routes.ts'

const page = (path: string): Route => ({ path, page: () => Promise.reject(new Error('not loaded')), title: path })
const some = [page('/'), page('/work/:round'), page('/projects/:project'), page('/projects/:project/rounds/:round')]

it('finds a page and its parameters by the address', () => {
  expect(find('/', some)?.route.path).toBe('/')
  expect(find('/work/12', some)?.params).toEqual({ round: '12' })
  expect(find('/work/12/', some)?.params).toEqual({ round: '12' })
  expect(find('/projects/a%20b/rounds/3', some)?.params).toEqual({ project: 'a b', round: '3' })
})

it('finds nothing where there is nothing', () => {
  expect(find('/nowhere', some)).toBeNull()
  expect(find('/work//', some)).toBeNull()
  expect(find('/work/1/2', some)).toBeNull()
})
it('leads on to pages of ours only, however an address is written', () => {
  const ours = (asked: string) => ownAddress(asked, 'https://concord.example')
  expect(ours('/projects/eye?page=2#x')).toBe('/projects/eye?page=2#x')
  expect(ours('/admin/')).toBe('/admin/')
  const evil = ['//evil.example', '/\t/evil.example', '/\n\\evil.example', '/\\evil.example', '/.//evil.example', 'https://evil.example', 'javascript:alert(1)', '']
  for (const asked of evil) expect(ours(asked), JSON.stringify(asked)).toBe('/')
})
