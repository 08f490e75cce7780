import { callHost, withDeadline } from '../../concurrency/host-call.js'
import { AuthError } from '../../errors/auth-error.js'
import type { RefreshSteps } from '../../sessions/refresh/refresh-steps.js'
import type { NewSession } from '../../sessions/session.js'
import type { Sessions } from '../../sessions/sessions.js'
import type { RecheckAccount } from '../steps/recheck-account.js'

interface StartingSession {
  sessions: Sessions
  session: NewSession
  recheckAccount: RecheckAccount
  /** Returns whether the token will be sent. */
  isWanted(): boolean
  /** The time limit for the sessions, in milliseconds. */
  timeout: number
  /** The steps of a refresh, for a session that has refresh tokens. */
  refreshSteps?: RefreshSteps | undefined
}

/** The refusals that end a token call as they are. */
export const CALL_CODES = ['unavailable', 'overloaded', 'client_closed_request'] as const

/**
 * Starts the session of a new token, then checks the account again, and ends the session if the token will not be sent. In this order, because
 * a sign-in whose account was checked before its session starts could overtake a password change.
 */
export async function startSession(starting: StartingSession): Promise<void> {
  const { sessions, session, recheckAccount, isWanted, timeout, refreshSteps } = starting
  const { id, accountId, address } = session
  let isOver = false
  const start = () => sessions.start(session, () => !isOver && isWanted())
  await callHost('sessions', start, { timeout, passThrough: CALL_CODES }).catch((error) => {
    // A session that starts after the time limit removes itself, and ends no older one.
    isOver = true
    throw error
  })
  try {
    const confirmed = await recheckAccount()
    if (refreshSteps) await refreshSteps.notePassword(session, confirmed)
    if (!isWanted()) throw new AuthError('client_closed_request')
  } catch (error) {
    // A session that stays gives no access, because its token was not sent.
    const end = async () => sessions.end({ accountId }, id, address ?? undefined)
    await withDeadline(timeout, end()).catch(() => {})
    throw error
  }
}
