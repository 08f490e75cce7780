import type { Emit } from '../events/emitter.js'
import { findIn } from './checked-store.js'
import { createLastUsed } from './last-used.js'
import { type SessionFacts, type SessionStore, sessionIdOf } from './session.js'

interface FinderSettings {
  store: SessionStore
  /** The time limit for the write of a use, in milliseconds. */
  timeout: number
  emit: Emit
}

/** A token with a session: its account, its id, and the id of its session where it is another one. */
interface SessionToken {
  readonly accountId: string
  readonly id: string
  readonly sessionId?: string | undefined
}

/**
 * Returns the live session of a token, and notes its use. A session that has expired is not live, although the store may still have it.
 * Rejects with the errors of the store.
 */
export type FindSession = (auth: SessionToken, now: number) => Promise<SessionFacts | undefined>

/** Creates the look-up of the session of a token, for guards. */
export function createSessionFinder({ store, timeout, emit }: FinderSettings): FindSession {
  const failed = (error: unknown) =>
    emit({ address: undefined }, { type: 'dependency.failed', dependency: 'sessions', refused: false, error })
  const noteUse = createLastUsed({ store, timeout, failed })

  return async function findSession(auth, now) {
    const id = sessionIdOf(auth)
    const found = await findIn(store, id, auth)
    if (!found || (found.expiresAt && found.expiresAt.getTime() <= now)) return undefined
    noteUse(id, found, now)
    return found
  }
}
