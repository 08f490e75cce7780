import type { ClientSettings } from '../client-options.js'

/** A refresh token, as an app keeps it. */
export interface RefreshTokenStorage {
  /** Returns the refresh token. Null or undefined when there is none. A rejection is an outage: nobody is asked for credentials. */
  load(): string | null | undefined | PromiseLike<string | null | undefined>
  /** Keeps a refresh token in place of the one before. */
  save(refreshToken: string): unknown
  /** Deletes the refresh token, because its session is over. */
  remove(): unknown
}

/** The part of `localStorage` that this file uses. */
interface Store {
  getItem(name: string): string | null
  setItem(name: string, text: string): void
  removeItem(name: string): void
}

/** Returns a function that runs one call after the other. */
export function inTurn(): <T>(call: () => T | PromiseLike<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (call) => {
    const next = last.then(call, call)
    last = next
    return next
  }
}

/**
 * Returns the storage of the refresh token, whose functions run one after the other. In cookie mode its text is empty, because only the
 * server can read it. Instead of a deleted cookie there is a note until the server has ended the session, so that no reload brings the
 * user back.
 */
export function storageOf({ refresh, name }: ClientSettings): RefreshTokenStorage | undefined {
  let isNoted = false
  let unsaved: string | undefined

  function use<T>(work: (store: Store) => T): T | undefined {
    try {
      return work((globalThis as unknown as { localStorage: Store }).localStorage)
    } catch {
      return undefined
    }
  }

  if (refresh === 'cookie')
    return {
      load: () => (isNoted || use((store) => store.getItem(name)) ? null : ''),
      save() {
        isNoted = false
        use((store) => store.removeItem(name))
      },
      remove() {
        isNoted = true
        use((store) => {
          store.setItem(name, '1')
          isNoted = false
        })
      },
    }
  if (!refresh) return undefined
  const queue = inTurn()
  return {
    load: () => queue(() => unsaved ?? refresh.load()),
    save: (text) =>
      queue(async () => {
        // Until it is saved, this client works with it.
        unsaved = text
        await refresh.save(text)
        unsaved = undefined
      }),
    remove: () =>
      queue(() => {
        unsaved = undefined
        return refresh.remove()
      }),
  }
}
