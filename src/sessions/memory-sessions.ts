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
  const accounts = new Map<string, Set<string>>()
  let swept = sessions.values()

  function drop({ id, accountId }: Session): void {
    sessions.delete(id)
    const ids = accounts.get(accountId)
    if (ids?.delete(id) && ids.size === 0) accounts.delete(accountId)
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

  const listed = (accountId: string) => [...(accounts.get(accountId) ?? [])].flatMap((id) => sessions.get(id) ?? [])

  return {
    add(session) {
      // Not `createdAt`, which may be ahead.
      sweep(session.lastUsedAt)
      sessions.set(session.id, { ...session })
      const ids = accounts.get(session.accountId)
      if (ids) ids.add(session.id)
      else accounts.set(session.accountId, new Set([session.id]))
    },
    find: (id) => sessions.get(id),
    list: listed,
    remove(id, accountId) {
      const session = sessions.get(id)
      if (session?.accountId !== accountId) return false
      drop(session)
      return true
    },
    removeAll(accountId, exceptId) {
      const removed = listed(accountId).filter(({ id }) => id !== exceptId)
      removed.forEach(drop)
      return removed.length > 0
    },
    touch(id, lastUsedAt) {
      const session = sessions.get(id)
      if (session) sessions.set(id, { ...session, lastUsedAt })
    },
  }
}
