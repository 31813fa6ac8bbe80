/** Browser storage: unsent answers, drafts and held assignments. */

/** Thrown if nothing more can be stored; the person must not continue. */
export class StorageFull extends Error {}

type Store = 'outbox' | 'drafts' | 'hands'

/**
 * Two databases, each at version 1: a page loaded before an upgrade could not open a newer
 * version and would not store answers.
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
  const existing = opening.get(name)
  if (existing) return existing
  const database = new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open(name, 1)
    request.onupgradeneeded = () => CREATE[name]!(request.result)
    request.onsuccess = () => {
      // Allow another tab with a newer version of this page to upgrade the database.
      request.result.onversionchange = () => {
        request.result.close()
        opening.delete(name)
      }
      resolve(request.result)
    }
    request.onerror = () => {
      opening.delete(name)
      reject(request.error ?? new Error('The browser does not store data for this page.'))
    }
  })
  opening.set(name, database)
  return database
}

/** For tests only. */
export async function close(): Promise<void> {
  for (const database of opening.values()) (await database).close()
  opening.clear()
}

/**
 * Run `work` in one transaction and resolve with its result when the transaction is durable. "strict"
 * asks the browser to flush to disk, so that a crash loses nothing. All stores must be in one database,
 * and `work` must issue all requests synchronously.
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
      // Commit at once, because a page that is being left no longer handles the requests' events.
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
