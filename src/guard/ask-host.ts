import type { IncomingMessage } from 'node:http'
import type { FoundAccount } from '../accounts/account.js'
import { currentAccount, type FindById, findAccount } from '../accounts/find-account.js'
import { callHost } from '../concurrency/host-call.js'
import { AuthError } from '../errors/auth-error.js'
import { misuse, PAGE } from '../options/misuse.js'
import { describe } from '../options/read-options.js'
import { noteMissing } from '../sessions/mistakes.js'
import type { FoundSession, SessionStore } from '../sessions/session.js'
import { factsOf, invalidToken, mayBeRefreshed, mayHaveSession, type VerifiedToken } from '../tokens/verified-token.js'

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

/** The facts that the host knows about a verified token. */
interface HostFacts {
  readonly found: FoundAccount | undefined
  /** The data of the session as JSON. */
  readonly data: string | undefined
}

/** Returns the live session of a token. */
export type FindSessionOf = (auth: VerifiedToken) => Promise<FoundSession | undefined>

/** Returns whether an account may use a route. A value that is not a boolean, and a failure, cause a `503`. */
export type Allow<A = object, R = IncomingMessage> = (
  req: R,
  account: A,
  auth: VerifiedToken,
) => boolean | Promise<boolean>

/**
 * Asks the host whether a verified token may still be used.
 * @param req the request. Undefined for a socket, which has no `allow`: its request was allowed when it began
 * @returns the account, where the host looks accounts up, and the data of the session
 * @throws AuthError `invalid_token`, `forbidden`, or `unavailable` when a function of the host fails
 */
export async function askHost(
  settings: HostSettings,
  findSession: FindSessionOf | undefined,
  auth: VerifiedToken,
  req: IncomingMessage | undefined,
): Promise<HostFacts> {
  if (settings.isRevoked) await requireUnrevoked(settings.isRevoked, auth, settings.timeout)
  const session = findSession && mayHaveSession(auth) ? await requireSession(settings, findSession, auth) : undefined
  const found = settings.accounts && (await requireAccount(settings.accounts, auth, settings.timeout))
  if (found && settings.allow) await requireAllowed(settings.allow, req, found, auth, settings.timeout)
  return { found, data: session?.data ?? undefined }
}

/** Refuses an account that the host does not allow here. */
async function requireAllowed(
  allow: Allow,
  req: IncomingMessage | undefined,
  { user }: FoundAccount,
  auth: VerifiedToken,
  timeout: number,
): Promise<void> {
  const ask = async () => readBoolean('allow', await allow(req as IncomingMessage, user, auth))
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
  const isOurs = !mayBeRefreshed(auth)
  const found = isOurs ? await callHost('sessions', () => findSession(auth), { timeout }) : undefined
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
