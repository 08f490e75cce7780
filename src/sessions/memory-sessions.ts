import type { Session, SessionStore } from './session.js'

/** The sessions that each new session checks for expiration. More than one, so that the store does not grow for ever. */
const SWEPT = 4

/**
 * Creates a session store in the memory of this process, for one process, tests and demos. A restart ends all sessions. Expired
 * sessions leave it while new ones come.
 * @throws never
 */
export function memorySessions(): SessionStore {
  const sessions = new Map<string, Session>()
  const accounts = new Map<string, Map<string, Session>>()
  let swept = sessions.values()

  const ofAccount = (accountId: string) => accounts.get(accountId) ?? new Map<string, Session>()

  function put(session: Session): void {
    const { id, accountId } = session
    sessions.set(id, session)
    accounts.set(accountId, ofAccount(accountId).set(id, session))
  }

  function drop({ id, accountId }: Session): void {
    sessions.delete(id)
    const left = ofAccount(accountId)
    left.delete(id)
    if (left.size === 0) accounts.delete(accountId)
  }

  /** Continues where the last call ended, so that one call costs the same however many sessions there are. */
  function sweep(now: Date): void {
    for (let i = 0; i < SWEPT; i++) {
      const { value: session, done } = swept.next()
      if (done) {
        swept = sessions.values()
        return
      }
      if (session.expiresAt <= now) drop(session)
    }
  }

  const list = (accountId: string) => [...ofAccount(accountId).values()]

  return {
    add(session) {
      // Not `createdAt`, which may be ahead.
      sweep(session.lastUsedAt)
      put({ ...session })
    },
    find: (id) => sessions.get(id),
    list,
    remove(id, accountId) {
      const session = sessions.get(id)
      if (session?.accountId !== accountId) return false
      drop(session)
      return true
    },
    removeAll(accountId, exceptId) {
      const removed = list(accountId).filter(({ id }) => id !== exceptId)
      removed.forEach(drop)
      return removed.length > 0
    },
    touch(id, lastUsedAt) {
      const session = sessions.get(id)
      if (session) put({ ...session, lastUsedAt })
    },
  }
}
