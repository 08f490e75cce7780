import type { Request } from 'express'
import { callHost, withDeadline } from '../concurrency/host-call.js'
import { AuthError } from '../errors/auth-error.js'
import { isOfOrigin } from '../http/cross-site.js'
import { bare, own } from '../options/values.js'
import type { RefreshSteps } from '../sessions/refresh/refresh-steps.js'
import type { NewSession } from '../sessions/session.js'
import type { Sessions } from '../sessions/sessions.js'
import { isVerifiedToken } from '../tokens/verified-token.js'
import type { RecheckAccount } from './recheck-account.js'
import { presentedIn } from './refresh-cookie.js'
import type { RefreshRoutes } from './refresh-mode.js'

/** The members that only a session with refresh tokens has. */
export interface RefreshedSession {
  refreshSteps?: RefreshSteps
  /** Ends the earlier sessions of the account that this one replaces. Default: none. */
  endReplaced?: ((accountId: string, address: string | undefined) => Promise<void>) | undefined
}

interface StartingSession extends RefreshedSession {
  sessions: Sessions
  session: NewSession
  recheckAccount: RecheckAccount
  /** Returns whether the token will be sent. */
  isWanted(): boolean
  /** Uses up what the sign-in has proved. Default: nothing. */
  useUp?: (() => Promise<void>) | undefined
  /** The time limit for the sessions, in milliseconds. */
  timeout: number
}

/** The refusals that end a token call as they are. */
export const CALL_CODES = ['unavailable', 'overloaded', 'client_closed_request'] as const

/**
 * Starts the session of a new token, then checks the account again, and ends the session if the token will not be sent. In this order, because
 * a sign-in whose account was checked before its session starts could overtake a password change.
 */
export async function startSession(starting: StartingSession): Promise<void> {
  const { sessions, session, recheckAccount, isWanted, useUp, timeout, refreshSteps, endReplaced } = starting
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
    if (refreshSteps) await refreshSteps.confirmSignIn(session, confirmed)
    if (!isWanted()) throw new AuthError('client_closed_request')
    // Last, because a sign-in that fails leaves the earlier session.
    await endReplaced?.(accountId, address ?? undefined)
    // After all else, because a code that is used up before a failure could not be sent again.
    await useUp?.()
  } catch (error) {
    // A session that stays gives no access, because its token was not sent.
    const end = async () => sessions.end({ accountId }, id, address ?? undefined)
    await withDeadline(timeout, end()).catch(() => {})
    throw error
  }
}

/**
 * Reads which sessions a new cookie replaces: those of the cookies of the request, and that of its token, because the browser sends the cookie
 * only to the token endpoint.
 * @returns the function that ends those of an account. A session of another account stays, because its user has not signed in
 * @throws AuthError `invalid_body` for too many cookies
 */
export function replacedSessions({ refreshSteps, issuers, cookieOrigins }: RefreshRoutes, req: Request) {
  // A page of another site may send the cookie to a custom route of the host.
  const hasOwnCookie = !cookieOrigins || isOfOrigin(bare(req.headers), cookieOrigins)
  const presented = hasOwnCookie ? presentedIn(req, refreshSteps, issuers) : []
  const ids = new Set(presented.map(({ sessionId }) => sessionId))
  const auth = own(req, 'auth')
  if (isVerifiedToken(auth) && auth.sessionId !== undefined && issuers.includes(auth.issuer)) ids.add(auth.sessionId)

  return async function endReplaced(accountId: string, address: string | undefined): Promise<void> {
    for (const sessionId of ids) {
      const session = await refreshSteps.findWithRefresh(sessionId)
      if (session?.accountId === accountId) await refreshSteps.end(session, 'signed_out', address)
    }
  }
}
