import type { Account, FoundAccount } from '../accounts/account.js'
import { currentAccount, type FindById, findAccount } from '../accounts/find-account.js'
import { AuthError } from '../errors/auth-error.js'
import type { RefreshRefusal } from '../errors/codes.js'
import type { RefreshableSession, RefreshEnd, RefreshSteps } from '../sessions/refresh/refresh-steps.js'
import type { RefreshTokenFacts } from '../sessions/refresh/refresh-token.js'

/** One refresh: its dependencies, what the refresh token names, and the client. */
interface RefreshTask<Token> {
  refreshSteps: RefreshSteps
  findById: FindById
  /** The time limit for the look-up of the account, in milliseconds. */
  timeout: number
  presented: RefreshTokenFacts
  address: string | undefined
  /** Issues the access token, before the session moves on: a failure must not use up a refresh token. */
  issue(session: RefreshableSession, found: FoundAccount): Promise<Token>
  /** Returns whether the client still waits. */
  isWanted(): boolean
}

/** A refreshed session, and what was issued for it. */
export interface Refreshed<Token> {
  session: RefreshableSession
  issued: Token
}

/**
 * Refreshes a session: refresh token → access token.
 * @throws AuthError `invalid_refresh_token` with the reason, `unavailable`, `overloaded` or `client_closed_request`
 */
export async function refresh<Token>(task: RefreshTask<Token>): Promise<Refreshed<Token>> {
  const session = await findSession(task)
  const found = await findAccount(task.findById, session.accountId, task.timeout)
  const account = await requireAccount(task, session, found)
  const issued = await task.issue(session, account)
  if (!task.isWanted()) throw new AuthError('client_closed_request')
  return { issued, session: await rotateOrEnd(task, session, account.account) }
}

/** Ends the session of a refresh token. Does nothing for a session that has ended. */
export async function signOut(
  task: Pick<RefreshTask<unknown>, 'refreshSteps' | 'presented' | 'address'>,
): Promise<void> {
  const { refreshSteps, presented, address } = task
  const session = await refreshSteps.findEvenExpired(presented)
  if (session) await refreshSteps.end(session, 'signed_out', address)
}

async function findSession({ refreshSteps, presented }: Pick<RefreshTask<unknown>, 'refreshSteps' | 'presented'>) {
  const session = await refreshSteps.find(presented)
  if (!session) throw refused('ended')
  return session
}

/** Ends the session of an account that is gone or disabled, whose password was changed, or that has ended its earlier tokens. */
async function requireAccount(
  task: RefreshTask<unknown>,
  session: RefreshableSession,
  found: FoundAccount | undefined,
): Promise<FoundAccount> {
  const account = currentAccount(found, session.createdAt)
  if (typeof account === 'string') return end(task, session, 'account', account)
  if (task.refreshSteps.hasOtherPassword(session, account.account.passwordHash)) {
    return end(task, session, 'account', 'superseded')
  }
  return account
}

/** Moves the session to its next generation. Ends a session whose refresh token was used before. */
async function rotateOrEnd(
  task: RefreshTask<unknown>,
  found: RefreshableSession,
  { passwordHash }: Account,
): Promise<RefreshableSession> {
  const { refreshSteps, presented } = task
  const session = await refreshSteps.rotate(found, presented.generation, passwordHash)
  if (session === 'ended') throw refused('ended', found.accountId)
  return session === 'reused' ? end(task, found, 'reused', 'reused') : session
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
