/** What the browser keeps: answers not yet acknowledged, drafts, and the units that a person holds. */

/** Thrown where nothing more can be kept: the person must not go on as if it had been. */
export class StorageFull extends Error {}

type Store = 'outbox' | 'drafts' | 'hands'

/**
 * Two data bases, each at its first version: a page that was loaded before an upgrade of the house could not open a newer
 * version of one, and would keep nothing any more.
 */
const CREATE: Record<string, (db: IDBDatabase) => void> = {
  concord: (db) => {
    db.createObjectStore('outbox', { keyPath: 'seq', autoIncrement: true }).createIndex('user', 'user')
    db.createObjectStore('drafts', { keyPath: ['user', 'assignment'] })
  },
  'concord-hands': (db) => void db.createObjectStore('hands', { keyPath: ['user', 'round'] }),
}
const baseOf = (store: Store) => (store === 'hands' ? 'concord-hands' : 'concord')
const opening = new Map<string, Promise<IDBDatabase>>()

function open(name: string): Promise<IDBDatabase> {
  const there = opening.get(name)
  if (there) return there
  const opened = new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open(name, 1)
    request.onupgradeneeded = () => CREATE[name]!(request.result)
    request.onsuccess = () => {
      // Another tab with a newer version of this page must be able to change the data base.
      request.result.onversionchange = () => {
        request.result.close()
        opening.delete(name)
      }
      resolve(request.result)
    }
    request.onerror = () => {
      opening.delete(name)
      reject(request.error ?? new Error('The browser keeps no data for this page.'))
    }
  })
  opening.set(name, opened)
  return opened
}

/** Only for tests. */
export async function close(): Promise<void> {
  for (const opened of opening.values()) (await opened).close()
  opening.clear()
}

/**
 * Runs `work` in one transaction and resolves with its result when the transaction is durable, not before: "strict"
 * asks the browser to have it on the disk, so that a crash a moment later loses nothing. All stores are of one data base,
 * and all that `work` asks of them it asks at once.
 */
export async function write<T>(stores: Store[], work: (tx: IDBTransaction) => IDBRequest<T> | undefined): Promise<T | undefined> {
  let db: IDBDatabase
  try {
    db = await open(baseOf(stores[0]!))
  } catch (error) {
    throw new StorageFull(String(error))
  }
  return new Promise((resolve, reject) => {
    let request: IDBRequest<T> | undefined
    const fail = (error: unknown) => reject(new StorageFull(String(error)))
    try {
      const tx = db.transaction(stores, 'readwrite', { durability: 'strict' })
      tx.oncomplete = () => resolve(request?.result)
      tx.onabort = () => fail(tx.error)
      request = work(tx)
      // Now, not once the browser has answered each request: a page that is left in this moment would answer nothing.
      tx.commit()
    } catch (error) {
      fail(error)
    }
  })
}

export async function read<T>(store: Store, ask: (s: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const db = await open(baseOf(store))
  return new Promise((resolve, reject) => {
    const request = ask(db.transaction(store).objectStore(store))
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error ?? new Error('read failed'))
  })
}
