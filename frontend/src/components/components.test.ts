import { createRawSnippet } from 'svelte'
import { render } from 'svelte/server'
import { expect, it } from 'vitest'
import { Problem } from '../api/client.ts'
import { Mutation, Resource, type Failure } from '../api/resource.svelte.ts'
import ActionStatus from './ActionStatus.svelte'
import Await from './Await.svelte'
import Bar from './Bar.svelte'
import Page from './Page.svelte'

const children = createRawSnippet(() => ({ render: () => '<p>contents</p>' }))

it('names a bar for those who do not see it', () => {
  const { body } = render(Bar, { props: { label: 'Units done', done: 3, total: 1200, of: 'clusters' } })
  expect(body).toContain('aria-label="Units done"')
  expect(body).toContain('3 of 1,200 clusters')
})

it('shows why a page could not be loaded, with a way on', () => {
  const from = new Resource<string>(() => Promise.resolve('x'), false)
  const body = (failure: Failure) => {
    from.failure = failure
    from.error = failure && 'Annotators can\'t view rounds. Only leads can.'
    return render(Await, { props: { from, children, what: 'Round 12', list: ['/projects/eye/rounds', 'Rounds'] } }).body
  }
  expect(body('down')).toMatch(/role="alert".*The server does not respond.*Try again/s)
  expect(body('missing')).toMatch(/Round 12 does not exist.*href="\/projects\/eye\/rounds"/s)
  expect(body('forbidden')).toMatch(/Annotators can't view rounds<.*Only leads can.*My work/s)
  for (const failure of ['missing', 'forbidden', 'server', 'other'] as const) expect(body(failure)).not.toContain('Try again')
  from.value = 'x'
  from.failure = ''
  from.error = ''
  expect(render(Await, { props: { from, children } }).body).toContain('contents')
})

it('shows only why the object of a page could not be loaded', () => {
  const main = new Resource<string>(() => Promise.resolve('x'), false)
  const body = () => render(Page, { props: { title: 'Round', meta: 'Open', main, children, what: 'Round 12' } }).body
  expect(body()).toContain('contents')
  main.fail(new Problem(404, {}))
  expect(body()).toMatch(/<h1[^>]*>Round<.*Round 12 does not exist/s)
  expect(body()).not.toMatch(/contents|Open/)
  main.fail(new Problem(403, { detail: "Annotators can't view rounds. Only leads can." }))
  expect(body()).toMatch(/<h2[^>]*>Annotators can't view rounds<.*Only leads can\. Ask a lead/s)
  main.fail(new Problem(403, { detail: 'The systems are hidden from you. You rate their summaries.' }))
  expect(body()).not.toContain('Ask a lead')
  // A page that has its object keeps it.
  main.value = 'x'
  expect(body()).toContain('contents')
})

it('shows the result of an action, or why it failed', async () => {
  const mutation = new Mutation()
  await mutation.run(() => Promise.resolve(), 'Saved.')
  expect(render(ActionStatus, { props: { mutation } }).body).toMatch(/role="status"[^>]*>Saved\./)
})
