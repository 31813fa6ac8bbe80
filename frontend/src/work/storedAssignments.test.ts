import 'fake-indexeddb/auto'
import { IDBFactory } from 'fake-indexeddb'
import { beforeEach, expect, it } from 'vitest'
import { deleteAssignments, storeAssignments, loadAssignments, type StoredAssignments } from './storedAssignments.ts'
import { close } from './store.ts'

const HOUR = 3_600_000
const stored = (over: Partial<StoredAssignments> = {}): StoredAssignments =>
  ({ user: 1, round: 7, about: { id: 7 }, cards: [{ assignment: 3 }, { assignment: 2 }], progress: { done: 4, total: 9, is_upper_bound: false }, at: 10 * HOUR, ...over }) as StoredAssignments

beforeEach(async () => {
  await close()
  globalThis.indexedDB = new IDBFactory()
})

it('survives a reload, in its order, for that person and round alone', async () => {
  await storeAssignments(stored())
  await close() // as a reload does
  expect(await loadAssignments(1, 7, 11 * HOUR)).toEqual(stored())
  expect(await loadAssignments(2, 7, 11 * HOUR)).toBeNull()
  expect(await loadAssignments(1, 8, 11 * HOUR)).toBeNull()
})

it('has elements where an earlier version stored slots', async () => {
  const card = (key: 'slot' | 'element') => ({ assignment: 3, pico: [{ [key]: 'i', text: 'nepralin' }] })
  await storeAssignments(stored({ cards: [card('slot'), card('element')] as unknown as StoredAssignments['cards'] }))
  expect((await loadAssignments(1, 7, 11 * HOUR))!.cards).toEqual([card('element'), card('element')])
})

it('has the current value where an earlier version stored the value in force', async () => {
  await storeAssignments(stored({ cards: [{ assignment: 3, in_force: [{ slot: 'i' }] }] as unknown as StoredAssignments['cards'] }))
  expect((await loadAssignments(1, 7, 11 * HOUR))!.cards).toEqual([{ assignment: 3, current: [{ element: 'i' }] }])
})

it('is not shown when its units may have gone to others', async () => {
  await storeAssignments(stored())
  expect(await loadAssignments(1, 7, 13.9 * HOUR)).not.toBeNull()
  expect(await loadAssignments(1, 7, 14.1 * HOUR)).toBeNull()
})

it('goes when its person signs out, and nobody else’s does', async () => {
  await storeAssignments(stored())
  await storeAssignments(stored({ round: 8 }))
  await storeAssignments(stored({ user: 2 }))
  await deleteAssignments(1)
  expect(await loadAssignments(1, 7, 11 * HOUR)).toBeNull()
  expect(await loadAssignments(1, 8, 11 * HOUR)).toBeNull()
  expect(await loadAssignments(2, 7, 11 * HOUR)).not.toBeNull()
})
