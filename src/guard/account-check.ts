import type { FoundAccount } from '../accounts/account.js'
import { type FindById, findAccount } from '../accounts/find-account.js'
import { misuse, PAGE } from '../options/misuse.js'
import { AuthError } from '../refusals/auth-error.js'
import type { TokenRefusal } from '../refusals/codes.js'
import type { Sessions } from '../sessions/sessions.js'
import { factsOf, type VerifiedToken } from '../tokens/verified-token.js'
import { callHost } from '../waiting/host-call.js'

/** Returns whether a token was revoked. A value that is not a boolean, and a failure, cause a `503`. */
export type RevocationCheck = (auth: VerifiedToken) => boolean | Promise<boolean>

async function checkRevoked(isRevoked: RevocationCheck, auth: VerifiedToken): Promise<boolean> {
  const revoked: unknown = await isRevoked(auth)
  // `undefined` from a forgotten return would otherwise let every revoked token through.
  if (typeof revoked !== 'boolean')
    throw misuse('isRevoked: must return true or false. Is a "return" missing?', PAGE.revoke)
  return revoked
}

function assertUsable(found: FoundAccount | undefined, auth: VerifiedToken): FoundAccount {
  if (!found) throw invalidToken('unknown_account', auth)
  const { disabled, tokensValidAfter } = found.account
  if (disabled) throw invalidToken('account_disabled', auth)
  // Not `<`: a time that is not a number must not pass.
  if (tokensValidAfter && !(auth.issuedAt >= tokensValidAfter)) throw invalidToken('superseded', auth)
  return found
}

/** Returns the refusal of a token whose signature is valid. */
export function invalidToken(reason: TokenRefusal, auth: VerifiedToken): AuthError {
  return new AuthError('invalid_token', { reason, ...factsOf(auth) })
}

interface HostChecks {
  isRevoked: RevocationCheck | undefined
  sessions: Pick<Sessions, 'isEnded'> | undefined
  accounts: FindById | undefined
  timeout: number
}

/**
 * Asks the host whether a verified token may still be used: whether it was revoked, whether its session has ended, and
 * whether its account may sign in.
 * @returns the account, where the host looks accounts up
 * @throws AuthError `invalid_token`, or `unavailable` when a function of the host fails
 */
export async function askHost(
  { isRevoked, sessions, accounts: findById, timeout }: HostChecks,
  auth: VerifiedToken,
): Promise<FoundAccount | undefined> {
  const checks = [
    ['revocation', isRevoked],
    ['sessions', sessions && ((token: VerifiedToken) => sessions.isEnded(token))],
  ] as const
  for (const [dependency, check] of checks) {
    const revoked = check !== undefined && (await callHost(dependency, () => checkRevoked(check, auth), { timeout }))
    if (revoked !== false) throw invalidToken('revoked', auth)
  }
  if (!findById) return undefined
  return assertUsable(await callHost('accounts', () => findAccount(findById, auth.accountId), { timeout }), auth)
}
