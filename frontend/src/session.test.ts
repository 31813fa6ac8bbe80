// @vitest-environment jsdom
import { afterEach, expect, it } from 'vitest'
import { may, session, type Session } from './session.svelte.ts'
import { navigation } from './shell/navigation.ts'

const project = (slug: string, verbs: string[]) => ({ slug, name: slug, role: 'x', may: verbs }) as unknown as Session['projects'][number]
const signedIn = (...projects: Session['projects'][number][]) => ({ projects }) as unknown as Session

afterEach(() => {
  session.now = undefined
})

it('lets a person do in a project what the server says of that project, and in no other', () => {
  session.now = signedIn(project('mine', ['open rounds']), project('theirs', []))
  expect(may('mine', 'open rounds' as Parameters<typeof may>[1])).toBe(true)
  expect(may('theirs', 'open rounds' as Parameters<typeof may>[1])).toBe(false)
  expect(may('none', 'open rounds' as Parameters<typeof may>[1])).toBe(false)
  expect(may(undefined, 'open rounds' as Parameters<typeof may>[1])).toBe(false)
})

it('lets nobody do anything before it is known who is signed in', () => {
  expect(may('mine', 'open rounds' as Parameters<typeof may>[1])).toBe(false)
})

it('lists a page for those alone who may open it', () => {
  const names = (verbs: string[]) => navigation(project('mine', verbs)).map((page) => page.name)
  const evaluators = names(['rate'])
  const leads = names(['read rounds', 'read systems', 'read the corpus', 'read people', 'read releases'])
  expect(evaluators).not.toContain('Protocols')
  expect(evaluators).not.toContain('Releases')
  expect(leads.length).toBeGreaterThan(evaluators.length)
})
