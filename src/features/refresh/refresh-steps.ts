import type { Account, FoundAccount } from '../../accounts/account.js'
import { currentAccount, type FindById, findAccount } from '../../accounts/find-account.js'
import { AuthError, isAuthError } from '../../errors/auth-error.js'
import type { RefreshRefusal } from '../../errors/codes.js'
import type { RefreshableSession, RefreshEnd, RefreshSteps } from '../../sessions/refresh/refresh-steps.js'
import type { RefreshTokenFacts } from '../../sessions/refresh/refresh-token.js'

/** One refresh: its dependencies, what the refresh token names, and the client. */
interface RefreshTask<Token> {
  refreshSteps: RefreshSteps
  findById: FindById
  /** The time limit for the look-up of the account, in milliseconds. */
  timeout: number
  /** The refresh tokens of the request, one of each session. */
  presented: readonly RefreshTokenFacts[]
  address: string | undefined
  /** Issues the access token, before the session moves on: a failure must not use up a refresh token. */
  issue(live: Live): Promise<Token>
  /** Returns whether the client still waits. */
  isWanted(): boolean
}

/** A refresh token that may be refreshed: its session and its account are not over. */
export interface Live {
  presented: RefreshTokenFacts
  session: RefreshableSession
  found: FoundAccount
}

/** Returns the terms of the sign-in. Those of the session come first: only a refresh token of an earlier release has some. */
export const termsOf = ({ presented, session }: Pick<Live, 'presented' | 'session'>): string | undefined =>
  session.terms ?? presented.terms

/** A refreshed session, and what was issued for it. */
export interface Refreshed<Token> {
  presented: RefreshTokenFacts
  session: RefreshableSession
  issued: Token
}

/**
 * Refreshes a session: refresh token → access token.
 * @throws AuthError `invalid_refresh_token` with the reason, `unavailable`, `overloaded` or `client_closed_request`
 */
export async function refresh<Token>(task: RefreshTask<Token>): Promise<Refreshed<Token>> {
  const live = await findLive(task)
  const issued = await task.issue(live)
  if (!task.isWanted()) throw new AuthError('client_closed_request')
  return { issued, presented: live.presented, session: await rotateOrEnd(task, live) }
}

/** Ends the session of a refresh token. Does nothing for a session that has ended. */
export async function signOut(
  task: Pick<RefreshTask<unknown>, 'refreshSteps' | 'address'>,
  presented: RefreshTokenFacts,
): Promise<void> {
  const { refreshSteps, address } = task
  const session = await refreshSteps.findEvenExpired(presented)
  if (session) await refreshSteps.end(session, 'signed_out', address)
}

/**
 * Finds the only refresh token of a request that is live. Others may be left from an earlier path or another host of the domain. Between two
 * live ones, nobody can decide: the user must not get the session of another account.
 */
async function findLive(task: RefreshTask<unknown>): Promise<Live> {
  let live: Live | undefined
  let refusal: AuthError | undefined
  // One after the other, so that one request never has several calls of the store at a time.
  for (const presented of task.presented) {
    const one = await requireLive(task, presented).catch((error) => {
      if (!isAuthError(error) || error.code !== 'invalid_refresh_token') throw error
      refusal ??= error
    })
    if (one && live) throw refused('several_cookies')
    live ??= one || undefined
    if (!task.isWanted()) throw new AuthError('client_closed_request')
  }
  if (live) return live
  throw refusal ?? refused('missing')
}

async function requireLive(task: RefreshTask<unknown>, presented: RefreshTokenFacts): Promise<Live> {
  const first = await findSession(task, presented)
  const account = await findAccount(task.findById, first.accountId, task.timeout)
  const found = await requireAccount(task, first, account)
  return { presented, session: await requirePassword(task, first, presented, found.account), found }
}

async function findSession({ refreshSteps }: RefreshTask<unknown>, presented: RefreshTokenFacts) {
  const session = await refreshSteps.find(presented)
  if (!session) throw refused('ended')
  return session
}

/** Ends the session of an account that is gone or disabled, or that has ended its earlier tokens. */
async function requireAccount(
  task: RefreshTask<unknown>,
  session: RefreshableSession,
  found: FoundAccount | undefined,
): Promise<FoundAccount> {
  const account = currentAccount(found, session.createdAt)
  return typeof account === 'string' ? end(task, session, 'account', account) : account
}

/** Ends the session of an account whose password was changed. Returns the session that was compared. */
async function requirePassword(
  task: RefreshTask<unknown>,
  found: RefreshableSession,
  presented: RefreshTokenFacts,
  { passwordHash }: Account,
): Promise<RefreshableSession> {
  const isOther = (session: RefreshableSession) => task.refreshSteps.hasOtherPassword(session, passwordHash)
  if (!isOther(found)) return found
  // A login may have announced and stored a better hash since the session was found.
  const session = { ...(await findSession(task, presented)), foundAt: found.foundAt }
  return isOther(session) ? end(task, session, 'account', 'superseded') : session
}

/** Moves the session to its next generation. Ends a session whose refresh token was used before. */
async function rotateOrEnd(
  task: RefreshTask<unknown>,
  { presented, session, found }: Live,
): Promise<RefreshableSession> {
  const rotated = await task.refreshSteps.rotate(session, presented, found.account.passwordHash)
  // The client tries again, and the token is checked for the session that it has now.
  if (rotated === 'restarted') throw new AuthError('overloaded')
  if (rotated === 'ended') throw refused('ended', session.accountId)
  return rotated === 'reused' ? end(task, session, 'reused', 'reused') : rotated
}

async function end(
  { refreshSteps, address }: RefreshTask<unknown>,
  session: RefreshableSession,
  why: RefreshEnd,
  reason: RefreshRefusal,
): Promise<never> {
  await refreshSteps.end(session, why, address)
  throw refused(reason, session.accountId)
}

export const refused = (reason: RefreshRefusal, accountId?: string) =>
  new AuthError('invalid_refresh_token', { reason, ...(accountId !== undefined && { accountId }) })
