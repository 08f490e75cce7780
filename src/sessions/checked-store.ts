import { markOf } from '../options/brand.js'
import { misuse, PAGE } from '../options/misuse.js'
import { isSessionId, readFound, readSession, type Session, type SessionFacts, type SessionStore } from './session.js'

const foreign = (method: string) => misuse(`sessions: ${method} returned a session of a different account`, PAGE.stores)

/** A store whose return values are checked. */
export type CheckedStore = ReturnType<typeof checkedStore>

/**
 * Returns the store of the host with its return values checked. Each method rejects with the errors of the store, and with a TypeError for a
 * return value that is not what {@link SessionStore} demands.
 */
export function checkedStore(store: SessionStore, now: () => number) {
  return {
    add: async (session: Session): Promise<void> => {
      await store.add(session)
    },
    /** Returns whether an account has a session. The id may be one of another account, because a client has sent it. */
    has: async (id: string, accountId: string): Promise<boolean> => (await lookUp(store, id))?.accountId === accountId,
    /** Returns the sessions of an account that have not expired, newest first. */
    async list(accountId: string): Promise<Session[]> {
      const listed: unknown = await store.list(accountId)
      if (!Array.isArray(listed)) throw misuse('sessions: list must return an array', PAGE.stores)
      const time = now()
      const read = listed.flatMap((one) => readSession('sessions: list', one) ?? [])
      if (read.some((one) => one.accountId !== accountId)) throw foreign('list')
      // Ids decide between equal times, so that all processes agree on the oldest sessions.
      return read
        .filter(({ expiresAt }) => expiresAt.getTime() > time)
        .sort((one, other) => +other.createdAt - +one.createdAt || (one.id < other.id ? 1 : -1))
    },
    update: async (id: string, data: string): Promise<boolean> => {
      if (!store.update)
        throw misuse(
          'sessions: the store has no "update", which auth.sessions.update needs. Add the method to the store',
          PAGE.stores,
        )
      return hasRemoved('update', await store.update(id, data))
    },
    remove: async (id: string, accountId: string) => hasRemoved('remove', await store.remove(id, accountId)),
    removeAll: async (accountId: string, exceptId?: string) =>
      hasRemoved('removeAll', await store.removeAll(accountId, exceptId)),
  }
}

/** Finds the session of a token. Rejects as the methods of {@link checkedStore} do. */
export async function findIn(
  store: SessionStore,
  id: string,
  auth: { readonly accountId: string },
): Promise<SessionFacts | undefined> {
  const found = await lookUp(store, id)
  if (!found || found.accountId === auth.accountId) return found
  // A token that this package has not issued may name any session. The store is then right.
  if (markOf('VerifiedToken', auth) !== undefined) return undefined
  throw foreign('find')
}

async function lookUp(store: SessionStore, id: string): Promise<SessionFacts | undefined> {
  return isSessionId(id) ? readFound('sessions: find', await store.find(id)) : undefined
}

/** Two requests may end the same session. Only one of them has an event. */
function hasRemoved(method: 'remove' | 'removeAll' | 'update', result: unknown): boolean {
  if (typeof result !== 'boolean') throw misuse(`sessions: ${method} must return true or false`, PAGE.stores)
  return result
}
