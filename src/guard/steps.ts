import type { IncomingMessage } from 'node:http'
import type { FoundAccount } from '../accounts/account.js'
import { currentAccount, type FindById, findAccount } from '../accounts/find-account.js'
import { callHost } from '../concurrency/host-call.js'
import { limitTasks } from '../concurrency/limit.js'
import { createTurnQueue } from '../concurrency/turn-queue.js'
import { AuthError } from '../errors/auth-error.js'
import { GUARDED_REQUESTS } from '../http/request-limits.js'
import { hasBrand, isOfProvider } from '../options/brand.js'
import { misuse, PAGE } from '../options/misuse.js'
import { describe } from '../options/read-options.js'
import { noteMissing } from '../sessions/mistakes.js'
import type { SessionFacts, SessionStore } from '../sessions/session.js'
import { factsOf, invalidToken, isActing, signInOf, type VerifiedToken } from '../tokens/verified-token.js'
import type { Verifiers } from '../tokens/verifiers.js'
import { assertB64Token } from './bearer-header.js'
import { NEEDS_SECOND_FACTOR } from './refuse.js'

/** Returns whether a token was revoked. A value that is not a boolean, and a failure, cause a `503`. */
export type RevocationCheck = (auth: VerifiedToken) => boolean | Promise<boolean>

/** Returns whether an account may use a route. A value that is not a boolean, and a failure, cause a `503`. */
export type Allow<A = object, R = IncomingMessage> = (
  req: R,
  account: A,
  auth: VerifiedToken,
) => boolean | Promise<boolean>

/** The options that these steps read. */
export interface StepSettings {
  readonly tokens: Verifiers
  readonly optional: boolean | 'lenient'
  readonly scope: readonly string[]
  readonly anyScope: readonly string[] | undefined
  readonly signedInWithin: number | undefined
  readonly secondFactor: boolean
  readonly acting: boolean
  readonly isRevoked: RevocationCheck | undefined
  readonly store: SessionStore | undefined
  readonly accounts: FindById | undefined
  readonly allow: Allow | undefined
  readonly timeout: number
}

/** Requests with a token that is not cached wait here, so that a flood of forged tokens does not delay the app's other requests. */
const waitForTurn = createTurnQueue(GUARDED_REQUESTS)

/** Limits the requests that wait for the key source, the revocation check, the sessions and the account store. */
export const limitHostCalls = limitTasks(GUARDED_REQUESTS)

/** Verifies a token that is not cached, after the turns of earlier requests. */
export async function verifyNew({ tokens, timeout }: StepSettings, network: string, text: string) {
  assertB64Token(text)
  await waitForTurn(network)
  return tokens.verify(text, (issuer, call) =>
    limitHostCalls(network, () =>
      callHost('keys', call, { timeout, passThrough: ['invalid_token', 'unavailable'], about: { issuer } }),
    ),
  )
}

export function requireVerified(auth: VerifiedToken): void {
  if (!hasBrand('VerifiedToken', auth)) throw new TypeError('requireBearer: only a verified token is admitted')
}

/** Refuses a token without the scopes. */
export function requireScopes({ scope, anyScope }: StepSettings, auth: VerifiedToken): void {
  const { scopes } = auth
  if (!scope.every((required) => scopes.includes(required))) {
    throw new AuthError('insufficient_scope', { scope, ...factsOf(auth) })
  }
  if (anyScope && !anyScope.some((enough) => scopes.includes(enough))) {
    throw new AuthError('insufficient_scope', { scope: anyScope, ...factsOf(auth) })
  }
}

/**
 * Refuses a sign-in without a second factor. A passkey that has asked for a finger, a face or a PIN is both factors (RFC 8176 section 2).
 */
export function requireSecondFactor({ secondFactor }: StepSettings, auth: VerifiedToken): void {
  const { amr = [] } = auth
  if (!secondFactor || amr.includes('mfa') || (amr.includes('hwk') && amr.includes('user'))) return
  throw new AuthError('insufficient_user_authentication', { message: NEEDS_SECOND_FACTOR, ...factsOf(auth) })
}

/** Refuses an administrator who acts as the account. */
export function requireOwner({ acting }: StepSettings, auth: VerifiedToken): void {
  if (!acting && isActing(auth)) throw new AuthError('forbidden', factsOf(auth))
}

/** Refuses a token of an old sign-in. */
export function requireRecentSignIn({ tokens, signedInWithin }: StepSettings, auth: VerifiedToken): void {
  if (signedInWithin === undefined) return
  if (isRecent(signInOf(auth), signedInWithin, tokens.ofToken(auth).now())) return
  const maxAge = Math.floor(signedInWithin / 1000)
  throw new AuthError('insufficient_user_authentication', { maxAge, ...factsOf(auth) })
}

/** Returns whether a time is at most `span` ago. A time that is not a number, or far in the future, is not. */
function isRecent(time: number, span: number, now: number): boolean {
  return now - time <= span && time - now <= MOST_AHEAD
}

/** The most that the clock of a custom verifier may be ahead, in milliseconds: as much as the largest `clockTolerance`. */
const MOST_AHEAD = 60_000

/** Refuses a token that the host has revoked. */
export async function requireUnrevoked(
  isRevoked: RevocationCheck,
  auth: VerifiedToken,
  timeout: number,
): Promise<void> {
  const revoked = await callHost('revocation', async () => readBoolean('isRevoked', await isRevoked(auth)), { timeout })
  if (revoked) throw invalidToken('revoked', auth)
}

/** Returns the live session of a token. */
export type FindSessionOf = (auth: VerifiedToken) => Promise<SessionFacts | undefined>

/** Refuses a token whose session has ended, and one of an identity provider, which could name a session of the app. */
export async function requireSession(
  { store, timeout }: StepSettings,
  findSession: FindSessionOf,
  auth: VerifiedToken,
): Promise<SessionFacts> {
  const found = !isOfProvider(auth) ? await callHost('sessions', () => findSession(auth), { timeout }) : undefined
  if (found) return found
  if (store) noteMissing(store, auth.issuedAt)
  throw invalidToken('revoked', auth)
}

/** Refuses a token whose account is gone, is disabled, or has ended its earlier tokens. */
export async function requireAccount(findById: FindById, auth: VerifiedToken, timeout: number): Promise<FoundAccount> {
  const account = currentAccount(await findAccount(findById, auth.accountId, timeout), auth.issuedAt)
  if (typeof account === 'string') throw invalidToken(account, auth)
  return account
}

/** Refuses an account that the host does not allow here. */
export async function requireAllowed(
  allow: Allow,
  req: IncomingMessage,
  user: object,
  auth: VerifiedToken,
  timeout: number,
): Promise<void> {
  const ask = async () => readBoolean('allow', await allow(req, user, auth))
  if (!(await callHost('hook', ask, { timeout, about: { option: 'allow' } })))
    throw new AuthError('forbidden', factsOf(auth))
}

/** Requires a boolean, because `undefined` from a forgotten `return` would let every revoked token through. */
function readBoolean(name: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  const fix = value === undefined ? 'Is a "return" missing?' : 'Return Boolean(…) of it'
  throw misuse(`${name}: must return true or false, but returned ${describe(value)}. ${fix}`, PAGE.signOut)
}

/** Refuses a token that has expired while the host's functions took their time. */
export function requireUnexpired({ tokens }: StepSettings, auth: VerifiedToken): void {
  const { now, tolerance } = tokens.ofToken(auth)
  if (!(now() < auth.expiresAt.getTime() + tolerance)) throw invalidToken('expired', auth)
}
