import { type Account, type AccountStore, checkAccount } from '../accounts/account.js'
import { AuthError, type TokenRefusal } from '../errors.js'
import type { VerifiedToken } from '../tokens/verified-token.js'

/** Whether a token was revoked. `true` refuses it; anything that is no boolean, and any failure, is a `503`. */
export type RevocationCheck = (auth: VerifiedToken) => boolean | Promise<boolean>

export type FindById = NonNullable<AccountStore['findById']>

/** Whether the host says that a token was revoked. */
export async function askRevoked(isRevoked: RevocationCheck, auth: VerifiedToken): Promise<boolean> {
  const revoked: unknown = await isRevoked(auth)
  // `undefined` from a forgotten return would otherwise let every revoked token through.
  if (typeof revoked !== 'boolean') throw new TypeError('isRevoked: the answer must be true or false')
  return revoked
}

/** The account of a token, as it is now. */
export async function findAccount(findById: FindById, { accountId }: VerifiedToken): Promise<Account | undefined> {
  const account = checkAccount(await findById(accountId))
  if (account && account.id !== accountId) throw new TypeError('accounts: findById answered with another account')
  return account
}

/** The account, if it may still use this token. */
export function standing(account: Account | undefined, auth: VerifiedToken): Account {
  if (!account) throw refusal('unknown_account', auth)
  if (account.disabled) throw refusal('account_disabled', auth)
  const { tokensValidAfter } = account
  if (tokensValidAfter && auth.issuedAt < tokensValidAfter) throw refusal('superseded', auth)
  return account
}

/** The account for the host's routes: its own members less the hash. Of a class that computes them, only what an account has. */
export function userOf(account: Account): Omit<Account, 'passwordHash'> {
  if (Object.hasOwn(account, 'passwordHash')) {
    const { passwordHash: _, ...user } = account
    return user
  }
  const { id, disabled, scopes, claims, tokensValidAfter } = account
  return { id, disabled, scopes, claims, tokensValidAfter }
}

/** The refusal of a token whose signature is good. */
export function refusal(reason: TokenRefusal, { accountId, id }: VerifiedToken): AuthError {
  return new AuthError('invalid_token', { reason, accountId, tokenId: id })
}
