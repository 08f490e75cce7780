import { callHost, withDeadline } from '../../concurrency/host-call.js'
import { AuthError } from '../../errors/auth-error.js'
import type { Refreshing } from '../../sessions/refresh/refreshing.js'
import type { NewSession } from '../../sessions/session.js'
import type { Sessions } from '../../sessions/sessions.js'
import type { Confirm } from '../steps/confirmation.js'

interface StartingSession {
  sessions: Sessions
  session: NewSession
  confirm: Confirm | undefined
  /** Returns whether the token will be sent. */
  isWanted(): boolean
  /** The time limit of sessions that are an object of the host, in milliseconds. */
  timeout?: number | undefined
  /** The steps of a refresh, for a session that has refresh tokens. */
  refreshing?: Refreshing | undefined
}

/** The refusals that end a token call as they are. */
export const CALL_CODES = ['unavailable', 'overloaded', 'client_closed_request'] as const

/**
 * Starts the session of a new token, then confirms the sign-in, and ends the session if the token will not be sent. In this order, because a
 * sign-in that was confirmed before its session starts could overtake a password change.
 */
export async function startSession(starting: StartingSession): Promise<void> {
  const { sessions, session, confirm, isWanted, timeout, refreshing } = starting
  const { id, accountId, address } = session
  let isOver = false
  const start = () => sessions.start(session, () => !isOver && isWanted())
  await callHost('sessions', start, { timeout, passThrough: CALL_CODES }).catch((error) => {
    // A session that starts after the time limit removes itself, and ends no older one.
    isOver = true
    throw error
  })
  try {
    const confirmed = await confirm?.()
    if (refreshing && confirmed) await refreshing.notePassword(session, confirmed)
    if (!isWanted()) throw new AuthError('client_closed_request')
  } catch (error) {
    // A session that stays gives no access, because its token was not sent.
    const end = async () => sessions.end({ accountId }, id, address ?? undefined)
    await withDeadline(timeout, end()).catch(() => {})
    throw error
  }
}
