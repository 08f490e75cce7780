import { toRequestUser } from '../accounts/account.js'
import { type FindById, findAccount } from '../accounts/find-account.js'
import { isValidDate } from '../options/values.js'
import { AuthError } from '../refusals/auth-error.js'
import type { TokenIssuer } from '../tokens/tokens.js'
import { callHost } from '../waiting/host-call.js'
import { createConfirmation, withLookUp } from './confirmation.js'
import { type LoginResult, subjectOf } from './create-login.js'

interface Finder {
  tokens: TokenIssuer
  findById: FindById
  /** The time limit for each look-up, in milliseconds. */
  timeout: number
}

/**
 * Looks up an account that the host has authenticated without its password. Its hash shows whether the password was changed since.
 * @param since the time just before the host authenticated the account. Default: now
 * @throws AuthError `invalid_credentials` for an account that is gone or disabled, `unavailable`
 */
export async function loginById({ tokens, findById, timeout }: Finder, id: string, since?: Date): Promise<LoginResult> {
  const now = Number(tokens.now())
  const asOf = new Date(isValidDate(since) ? Math.min(since.getTime(), now) : now)
  const lookUp = () => callHost('accounts', () => findAccount(findById, id), { timeout })
  const found = await lookUp()
  if (!found || found.account.disabled) {
    const reason = found ? 'account_disabled' : 'unknown_account'
    throw new AuthError('invalid_credentials', { reason, accountId: id })
  }
  const { passwordHash } = found.account
  const confirm = createConfirmation({ id, asOf, lookUp, isKnown: (hash) => hash === passwordHash })
  const subject = subjectOf(found.account, asOf)
  return {
    account: toRequestUser(found),
    subject: { ...subject, issuedAt: withLookUp(asOf, { confirm, subject: () => subject }) },
  }
}
