import 'fake-indexeddb/auto'
import { IDBFactory } from 'fake-indexeddb'
import { beforeEach, expect, it } from 'vitest'
import { dropHands, keepHand, keptHand, type KeptHand } from './keptHand.ts'
import { close } from './store.ts'

const HOUR = 3_600_000
const hand = (over: Partial<KeptHand> = {}): KeptHand =>
  ({ user: 1, round: 7, about: { id: 7 }, cards: [{ assignment: 3 }, { assignment: 2 }], progress: { done: 4, total: 9 }, at: 10 * HOUR, ...over }) as KeptHand

beforeEach(async () => {
  await close()
  globalThis.indexedDB = new IDBFactory()
})

it('survives a reload, in its order, for that person and round alone', async () => {
  await keepHand(hand())
  await close() // as a reload does
  expect(await keptHand(1, 7, 11 * HOUR)).toEqual(hand())
  expect(await keptHand(2, 7, 11 * HOUR)).toBeNull()
  expect(await keptHand(1, 8, 11 * HOUR)).toBeNull()
})

it('is not shown when its units may have gone to others', async () => {
  await keepHand(hand())
  expect(await keptHand(1, 7, 13.9 * HOUR)).not.toBeNull()
  expect(await keptHand(1, 7, 14.1 * HOUR)).toBeNull()
})

it('goes when its person signs out, and nobody else’s does', async () => {
  await keepHand(hand())
  await keepHand(hand({ round: 8 }))
  await keepHand(hand({ user: 2 }))
  await dropHands(1)
  expect(await keptHand(1, 7, 11 * HOUR)).toBeNull()
  expect(await keptHand(1, 8, 11 * HOUR)).toBeNull()
  expect(await keptHand(2, 7, 11 * HOUR)).not.toBeNull()
})
