import 'fake-indexeddb/auto'
import { IDBFactory } from 'fake-indexeddb'
import { beforeEach, describe, expect, it } from 'vitest'
import { dropDraft, loadDraft, saveDraft, type Draft } from './drafts.ts'
import { close } from './store.ts'

const draft = (over: Partial<Draft> = {}): Draft => ({
  user: 1, assignment: 7, revision: 0, state: { polarity: 'positive' }, comment: 'hm', flag: true, activeMs: 900, ...over,
})

beforeEach(async () => {
  await close()
  globalThis.indexedDB = new IDBFactory()
})

describe('drafts', () => {
  it('survive a reload, by user and assignment', async () => {
    await saveDraft(draft())
    await saveDraft(draft({ user: 2, comment: 'other' }))
    await close() // as a reload does
    expect(await loadDraft(1, 7, 0)).toEqual(draft())
    expect((await loadDraft(2, 7, 0))?.comment).toBe('other')
    expect(await loadDraft(1, 8, 0)).toBeNull()
  })

  it('are no drafts of another revision', async () => {
    await saveDraft(draft())
    expect(await loadDraft(1, 7, 1)).toBeNull()
  })

  it('can be dropped, and the newest counts', async () => {
    await saveDraft(draft())
    await saveDraft(draft({ comment: 'newer' }))
    expect((await loadDraft(1, 7, 0))?.comment).toBe('newer')
    await dropDraft(1, 7)
    expect(await loadDraft(1, 7, 0)).toBeNull()
  })
})
