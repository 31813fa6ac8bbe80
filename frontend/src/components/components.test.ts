import { createRawSnippet } from 'svelte'
import { render } from 'svelte/server'
import { expect, it } from 'vitest'
import { Mutation, Resource, type Failure } from '../api/resource.svelte.ts'
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
  const body = (failure: Failure) => {
    from.failure = failure
    from.error = failure && 'Annotators cannot view rounds.'
    return render(Await, { props: { from, children, what: 'Round 12', list: ['/projects/eye/rounds', 'Rounds'] } }).body
  }
  expect(body('down')).toMatch(/role="alert".*The server does not respond.*Try again/s)
  expect(body('missing')).toMatch(/Round 12 does not exist.*href="\/projects\/eye\/rounds"/s)
  expect(body('forbidden')).toMatch(/Annotators cannot view rounds\..*My work/s)
  for (const failure of ['missing', 'forbidden', 'server', 'other'] as const) expect(body(failure)).not.toContain('Try again')
  from.value = 'x'
  from.failure = ''
  from.error = ''
  expect(render(Await, { props: { from, children } }).body).toContain('contents')
})

it('shows the result of an action, or why it failed', async () => {
  const mutation = new Mutation()
  await mutation.run(() => Promise.resolve(), 'Saved.')
  expect(render(ActionStatus, { props: { mutation } }).body).toMatch(/role="status"[^>]*>Saved\./)
})
