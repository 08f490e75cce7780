import { type Account, type AccountStore, checkAccount } from '../../accounts/account.js'
import { AuthError, type TokenRefusal } from '../../shared/errors.js'
import type { VerifiedToken } from '../../tokens/verified-token.js'

/** Whether a token was revoked. `true` refuses it; anything that is no boolean, and any failure, is a `503`. */
export type RevocationCheck = (auth: VerifiedToken) => boolean | Promise<boolean>

export type FindById = NonNullable<AccountStore['findById']>

/** Whether the host says that a token was revoked. */
export async function checkRevoked(isRevoked: RevocationCheck, auth: VerifiedToken): Promise<boolean> {
  const revoked: unknown = await isRevoked(auth)
  // `undefined` from a forgotten return would otherwise let every revoked token through.
  if (typeof revoked !== 'boolean') throw new TypeError('isRevoked: the answer must be true or false')
  return revoked
}

/** An account as it is checked, and the host's own object, for `req.user`. */
interface FoundAccount {
  account: Account
  original: object
}

/** Looks up the account of a token. */
export async function findAccount(findById: FindById, { accountId }: VerifiedToken): Promise<FoundAccount | undefined> {
  const original = await findById(accountId)
  const account = checkAccount(original)
  if (!account || !original) return undefined
  if (account.id !== accountId) throw new TypeError('accounts: findById returned another account')
  return { account, original }
}

/**
 * Returns the account that may still use this token.
 * @throws AuthError `invalid_token`
 */
export function assertUsable(found: FoundAccount | undefined, auth: VerifiedToken): FoundAccount {
  if (!found) throw refusal('unknown_account', auth)
  const { disabled, tokensValidAfter } = found.account
  if (disabled) throw refusal('account_disabled', auth)
  // Not `<`: a time that is not a number must not pass.
  if (tokensValidAfter && !(auth.issuedAt >= tokensValidAfter)) throw refusal('superseded', auth)
  return found
}

/** Returns the account for the host's routes: its own members without the hash, or what a class's getters provide. */
export function toRequestUser({ account, original }: FoundAccount): object {
  const { passwordHash: _, ...user } = Object.hasOwn(original, 'passwordHash') ? (original as Account) : account
  return user
}

/** The refusal of a token whose signature is good. */
export function refusal(reason: TokenRefusal, { accountId, id }: VerifiedToken): AuthError {
  return new AuthError('invalid_token', { reason, accountId, tokenId: id })
}
