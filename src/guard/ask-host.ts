import type { IncomingMessage } from 'node:http'
import type { FoundAccount } from '../accounts/account.js'
import { currentAccount, type FindById, findAccount } from '../accounts/find-account.js'
import { callHost } from '../concurrency/host-call.js'
import { AuthError } from '../errors/auth-error.js'
import { misuse, PAGE } from '../options/misuse.js'
import { describe } from '../options/read-options.js'
import { noteMissing } from '../sessions/mistakes.js'
import type { FoundSession, SessionStore } from '../sessions/session.js'
import {
  factsOf,
  forRequest,
  invalidToken,
  isOfProvider,
  mayHaveSession,
  type VerifiedToken,
} from '../tokens/verified-token.js'

/** Returns whether a token was revoked. A value that is not a boolean, and a failure, cause a `503`. */
export type RevocationCheck = (auth: VerifiedToken) => boolean | Promise<boolean>

/** The options that these steps read. */
export interface HostSettings {
  readonly isRevoked: RevocationCheck | undefined
  readonly store: SessionStore | undefined
  readonly accounts: FindById | undefined
  readonly allow: Allow | undefined
  readonly timeout: number
}

/** Returns the live session of a token. */
export type FindSessionOf = (auth: VerifiedToken) => Promise<FoundSession | undefined>

/** Returns whether an account may use a route. A value that is not a boolean, and a failure, cause a `503`. */
export type Allow<A = object, R = IncomingMessage> = (
  req: R,
  account: A,
  auth: VerifiedToken,
) => boolean | Promise<boolean>

/** The result of the steps for an admitted request. Without `auth`, the request has no token, or an invalid one at a lenient guard. */
export interface Admission {
  readonly auth?: VerifiedToken
  /** The object for `req.user`, where `accounts` is given. */
  readonly user?: object | undefined
}

/**
 * Asks the host whether a verified token may still be used.
 * @returns the token with the scopes that its account still has and the data of its session, and the user: as far as the host looks them up
 * @throws AuthError `invalid_token`, `forbidden`, or `unavailable` when a function of the host fails
 */
export async function askHost(
  settings: HostSettings,
  findSession: FindSessionOf | undefined,
  auth: VerifiedToken,
  req: IncomingMessage,
): Promise<Required<Admission>> {
  const { isRevoked, accounts, allow, timeout } = settings
  if (isRevoked) await requireUnrevoked(isRevoked, auth, timeout)
  const session = findSession && mayHaveSession(auth) ? await requireSession(settings, findSession, auth) : undefined
  const found = accounts && (await requireAccount(accounts, auth, timeout))
  const now = forRequest(auth, { scopes: found && (found.account.scopes ?? []), data: session?.data })
  if (found && allow) await requireAllowed(allow, req, found.user, now, timeout)
  return { auth: now, user: found?.user }
}

/** Refuses an account that the host does not allow here. */
async function requireAllowed(
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

/** Refuses a token that the host has revoked. */
async function requireUnrevoked(isRevoked: RevocationCheck, auth: VerifiedToken, timeout: number): Promise<void> {
  const revoked = await callHost('revocation', async () => readBoolean('isRevoked', await isRevoked(auth)), { timeout })
  if (revoked) throw invalidToken('revoked', auth)
}

/** Refuses a token whose session has ended, and one of an identity provider, which could name a session of the app. */
async function requireSession(
  { store, timeout }: HostSettings,
  findSession: FindSessionOf,
  auth: VerifiedToken,
): Promise<FoundSession> {
  const found = !isOfProvider(auth) ? await callHost('sessions', () => findSession(auth), { timeout }) : undefined
  if (found) return found
  if (store) noteMissing(store, auth.issuedAt)
  throw invalidToken('revoked', auth)
}

/** Refuses a token whose account is gone, is disabled, or has ended its earlier tokens. */
async function requireAccount(findById: FindById, auth: VerifiedToken, timeout: number): Promise<FoundAccount> {
  const account = currentAccount(await findAccount(findById, auth.accountId, timeout), auth.issuedAt)
  if (typeof account === 'string') throw invalidToken(account, auth)
  return account
}

/** Requires a boolean, because `undefined` from a forgotten `return` would let every revoked token through. */
function readBoolean(name: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  const fix = value === undefined ? 'Is a "return" missing?' : 'Return Boolean(…) of it'
  throw misuse(`${name}: must return true or false, but returned ${describe(value)}. ${fix}`, PAGE.signOut)
}
