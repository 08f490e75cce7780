import { currentAccount, type FindById, findAccount } from '../../accounts/find-account.js'
import { AuthError } from '../../errors/auth-error.js'
import { isValidDate } from '../../options/values.js'
import type { TokenIssuer } from '../../tokens/tokens.js'
import type { LoginResult } from '../create-login.js'
import { createConfirmation, withLookUp } from '../steps/confirmation.js'
import { subjectOf } from '../steps/sign-in-terms.js'

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
export async function loginById({ tokens, findById, timeout }: Finder, id: string, since?: Date): Promise<LoginResult> {
  const now = Number(tokens.now())
  const asOf = new Date(now)
  const lookUp = () => findAccount(findById, id, timeout)
  const found = currentAccount(await lookUp(), isValidDate(since) ? since : asOf)
  if (typeof found === 'string') throw new AuthError('invalid_credentials', { reason: found, accountId: id })
  const { passwordHash } = found.account
  const confirm = createConfirmation({ id, asOf, lookUp, isKnown: (hash) => hash === passwordHash })
  const subject = { ...subjectOf(found.account, asOf), ...(isValidDate(since) && { signedInAt: since }) }
  return {
    account: found.user,
    subject: { ...subject, issuedAt: withLookUp(asOf, { confirm, subject }) },
  }
}
