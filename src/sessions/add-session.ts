import { callHost } from '../concurrency/host-call.js'
import { AuthError } from '../errors/auth-error.js'
import { isActingId } from './acting-id.js'
import type { CheckedStore } from './checked-store.js'
import type { Session } from './session.js'

interface NewSessionTask {
  store: CheckedStore
  session: Session
  maxPerAccount: number
  /** The time limit, in milliseconds. */
  timeout: number
  /** Returns whether the token of the session will be sent. */
  isWanted(): boolean
  /** Called with each older session that the account has lost. */
  hasEnded(id: string): void
}

/** The most sessions of administrators who act as an account. Each ends with its token. */
const MOST_ACTING = 100

/**
 * Returns the oldest sessions of an account above its maximum, and above that of the administrators who act as the account: so neither ends a
 * session of the other.
 * @param sessions all sessions of the account, newest first
 */
function surplusOf(sessions: readonly Session[], maxPerAccount: number): Session[] {
  const counts = { own: 0, acting: 0 }
  return sessions.filter(({ id }) => (isActingId(id) ? ++counts.acting > MOST_ACTING : ++counts.own > maxPerAccount))
}

interface OldestTask extends Pick<NewSessionTask, 'store' | 'maxPerAccount' | 'hasEnded'> {
  accountId: string
  /** Called before the first removal. Its error stops the removals. Default: nothing. */
  assertWanted?: (() => void) | undefined
}

/** Ends the oldest sessions of an account above the maximum. */
export async function endOldest({
  store,
  maxPerAccount,
  hasEnded,
  accountId,
  assertWanted,
}: OldestTask): Promise<void> {
  const oldest = surplusOf(await store.list(accountId), maxPerAccount)
  assertWanted?.()
  await Promise.all(oldest.map(async ({ id }) => (await store.remove(id, accountId)) && hasEnded(id)))
}

/**
 * Stores a session, and ends the oldest ones of its account above the maximum.
 * @throws AuthError `unavailable` when the store fails, or `client_closed_request` when the token will not be sent: then no session remains
 */
export async function addSession({ store, session, maxPerAccount, timeout, isWanted, hasEnded }: NewSessionTask) {
  const { id, accountId } = session
  let isOver = false
  /** Removes the session of a token that is not sent. No request waits for it. */
  const forget = () => void store.remove(id, accountId).catch(() => {})
  const assertWanted = () => {
    if (isOver || !isWanted()) throw new AuthError('client_closed_request')
  }
  async function start(): Promise<void> {
    try {
      const [newest] = await store.list(accountId)
      // Later than all others, because the oldest sessions end and the clock of another process may be ahead.
      if (newest) session.createdAt = new Date(Math.max(+session.createdAt, +newest.createdAt + 1))
      await store.add(session)
      // After the addition, so that the last one of several sign-ins at once sees them all.
      await endOldest({ store, maxPerAccount, hasEnded, accountId, assertWanted })
      assertWanted()
    } finally {
      // The store was too slow. It may have added the session after the removal below.
      if (isOver) forget()
    }
  }
  try {
    await callHost('sessions', start, { timeout, passThrough: ['client_closed_request'] })
  } catch (error) {
    isOver = true
    forget()
    throw error
  }
}
