/** The data base in the browser: answers not yet acknowledged, and drafts. */

/** Thrown where nothing more can be kept: the person must not go on as if it had been. */
export class StorageFull extends Error {}

let opening: Promise<IDBDatabase> | null = null

export function open(): Promise<IDBDatabase> {
  opening ??= new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open('concord', 1)
    request.onupgradeneeded = () => {
      const outbox = request.result.createObjectStore('outbox', { keyPath: 'seq', autoIncrement: true })
      outbox.createIndex('user', 'user')
      request.result.createObjectStore('drafts', { keyPath: ['user', 'assignment'] })
    }
    request.onsuccess = () => {
      // Another tab with a newer version of this page must be able to change the data base.
      request.result.onversionchange = () => {
        request.result.close()
        opening = null
      }
      resolve(request.result)
    }
    request.onerror = () => {
      opening = null
      reject(request.error ?? new Error('The browser keeps no data for this page.'))
    }
  })
  return opening
}

/** Only for tests. */
export async function close(): Promise<void> {
  ;(await opening)?.close()
  opening = null
}

type Stores = 'outbox' | 'drafts'

/**
 * Runs `work` in one transaction and resolves with its result when the transaction is durable, not before: "strict"
 * asks the browser to have it on the disk, so that a crash a moment later loses nothing.
 */
export async function write<T>(stores: Stores[], work: (tx: IDBTransaction) => IDBRequest<T> | undefined): Promise<T | undefined> {
  let db: IDBDatabase
  try {
    db = await open()
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
    } catch (error) {
      fail(error)
    }
  })
}

export async function read<T>(store: Stores, ask: (s: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const db = await open()
  return new Promise((resolve, reject) => {
    const request = ask(db.transaction(store).objectStore(store))
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error ?? new Error('read failed'))
  })
}
