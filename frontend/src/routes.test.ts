import { expect, it } from 'vitest'
import { find, moved, ownAddress, type Route } from './routes.ts'
import { navigation, currentEntry } from './shell/navigation.ts'

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

it('leads from the earlier address of a page to the present one', () => {
  const from = (address: string) => moved(new URL(address, 'https://concord.example'))
  expect(from('/projects/eye/search')).toBe('/projects/eye/pubmed')
  expect(from('/projects/eye/consistency?rule=wording#f3')).toBe('/projects/eye/needs-review?tab=labels&rule=wording#f3')
  expect(from('/projects/eye/evidence?page=2')).toBe('/projects/eye/ranking?page=2')
  expect(from('/projects/eye/reliability')).toBe('/projects/eye/rounds/new?purpose=reliability')
  for (const address of ['/projects/eye/rounds', '/projects/eye/constructor', '/search']) expect(from(address)).toBeNull()
})

const lead = { slug: 'eye', name: 'Eye', role: 'lead', illustrative: false, may: ['read the corpus', 'curate', 'read rounds', 'see names'] } as unknown as Parameters<typeof navigation>[0]

it('lists the pages that a person may open by group', () => {
  const groups = navigation(lead).map((p) => `${p.group}: ${p.name}`)
  expect(groups).toEqual(['Project: Overview', 'Project: People', 'Data: Corpus', 'Data: Sentence ranking', 'Data: Needs review', 'Annotation: Rounds', 'Annotation: Guidelines', 'Annotation: Inbox', 'Evaluation: Protocols'])
  expect(navigation({ ...lead, may: [] }).map((p) => p.name)).toEqual(['Overview', 'Guidelines'])
})

it('knows below which page of the navigation an address stands', () => {
  expect(currentEntry('/projects/eye')).toEqual({ name: 'Overview', group: 'Project', itself: true })
  expect(currentEntry('/projects/eye/rounds/3/agreement')).toEqual({ name: 'Rounds', group: 'Annotation', itself: false })
  expect(currentEntry('/projects/eye/reviews/3/curate')).toEqual({ name: '', group: 'Data', itself: false })
  expect(currentEntry('/profile')).toBeNull()
})
