import { createRawSnippet } from 'svelte'
import { render } from 'svelte/server'
import { expect, it } from 'vitest'
import { Mutation, Resource } from '../api/resource.svelte.ts'
import ActionStatus from './ActionStatus.svelte'
import Await from './Await.svelte'
import Bar from './Bar.svelte'

const children = createRawSnippet(() => ({ render: () => '<p>contents</p>' }))

it('names a bar for those who do not see it', () => {
  const { body } = render(Bar, { props: { label: 'Units done', done: 3, total: 1200, of: 'clusters' } })
  expect(body).toContain('aria-label="Units done"')
  expect(body).toContain('3 of 1,200 clusters')
})

it('shows why a page could not be loaded, with a way on', () => {
  const from = new Resource<string>(() => Promise.resolve('x'), false)
  from.error = 'The server cannot be reached.'
  const { body } = render(Await, { props: { from, children } })
  expect(body).toMatch(/role="alert".*The server cannot be reached\..*Try again/s)
  from.isMissing = true
  expect(render(Await, { props: { from, children } }).body).toMatch(/All projects/)
  from.value = 'x'
  from.error = ''
  expect(render(Await, { props: { from, children } }).body).toContain('contents')
})

it('shows the result of an action, or why it failed', async () => {
  const mutation = new Mutation()
  await mutation.run(() => Promise.resolve(), 'Saved.')
  expect(render(ActionStatus, { props: { mutation } }).body).toMatch(/role="status"[^>]*>Saved\./)
})
