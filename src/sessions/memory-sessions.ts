import { expiringMap } from '../concurrency/expiring-map.js'
import { warnOnce } from '../events/warnings.js'
import type { Session, SessionStore } from './session.js'

/**
 * Creates a session store in the memory of this process, for one process, tests and demos. A restart ends all sessions. Expired
 * sessions leave it while new ones come. Its `add` throws for an id that it has.
 */
export function memorySessions(): Required<SessionStore> {
  warnOnce('sessionsInMemory')
  const sessions = expiringMap<Session>(
    ({ id }) => id,
    ({ accountId }) => accountId,
  )
  return {
    add(session) {
      // Not `createdAt`, which may be ahead.
      sessions.sweep(session.lastUsedAt)
      if (sessions.get(session.id)) throw new Error('memoryStore: the store already has this session')
      sessions.set({ ...session })
    },
    find: sessions.get,
    list: sessions.list,
    remove(id, accountId) {
      const session = sessions.get(id)
      if (session?.accountId !== accountId) return false
      sessions.remove(session)
      return true
    },
    removeAll(accountId, exceptId) {
      const removed = sessions.list(accountId).filter(({ id }) => id !== exceptId)
      removed.forEach(sessions.remove)
      return removed.length > 0
    },
    touch(id, lastUsedAt) {
      const session = sessions.get(id)
      if (session) sessions.set({ ...session, lastUsedAt })
    },
    replace(id, from, to) {
      const session = sessions.get(id)
      if (!session || session.refresh !== from) return false
      sessions.set({ ...session, ...to })
      return true
    },
    update(id, data) {
      const session = sessions.get(id)
      if (session) sessions.set({ ...session, data })
      return session !== undefined
    },
  }
}
