import { currentAccount, type FindById, findAccount } from '../../accounts/find-account.js'
import { AuthError } from '../../errors/auth-error.js'
import type { TokenIssuer } from '../../tokens/tokens.js'
import { createRecheck } from '../steps/recheck-account.js'
import { type KnownSignIn, knownSignIn } from './known-sign-in.js'

interface Finder {
  tokens: TokenIssuer
  findById: FindById
  /** The time limit for each look-up, in milliseconds. */
  timeout: number
}

/**
 * Looks up an account that the host has authenticated without its password. Its hash shows whether the password was changed since.
 * @param since the time just before the host authenticated the account, which becomes the time of the sign-in. Default: now
 * @throws AuthError `invalid_credentials` for an account that is gone or disabled, or has ended its earlier tokens since; `unavailable`
 */
export async function signInById(
  { tokens, findById, timeout }: Finder,
  id: string,
  since?: Date,
): Promise<KnownSignIn> {
  const lookedUpAt = new Date(Number(tokens.now()))
  const lookUp = () => findAccount(findById, id, timeout)
  const found = currentAccount(await lookUp(), since ?? lookedUpAt)
  if (typeof found === 'string') throw new AuthError('invalid_credentials', { reason: found, accountId: id })
  const { passwordHash } = found.account
  const isKnown = (hash: string | null) => hash === passwordHash
  const signIn = knownSignIn(found, lookedUpAt, createRecheck({ id, lookedUpAt, lookUp, isKnown }))
  return since ? { ...signIn, subject: { ...signIn.subject, signedInAt: since } } : signIn
}
