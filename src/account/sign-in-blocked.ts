import { isAuthError } from '../errors/auth-error.js'
import { LONGEST_EMAIL } from '../limits/account-key.js'
import type { LogInWith } from '../login/log-in.js'
import { type AccountParts, findByAddress } from './account-parts.js'

/** Returns whether a login was refused because the limit of the account over all networks is used up, so that its owner cannot sign in. */
const isBlocked = (error: unknown) => isAuthError(error) && (error.limit === 'account' || error.reason === 'limited')

/**
 * Returns a login that mails the notice `sign-in-blocked` to the owner of an account whose limit is used up, at most once a day. The other
 * sign-ins still work for the owner.
 */
export function notingBlocked(
  logIn: LogInWith,
  { accounts, timeout, mailer }: Pick<AccountParts, 'accounts' | 'timeout' | 'mailer'>,
): LogInWith {
  return async function logInOrNote(credentials, origin, about) {
    try {
      return await logIn(credentials, origin, about)
    } catch (error) {
      const { req, network } = origin
      const { email, fields } = credentials
      if (isBlocked(error) && email.length <= LONGEST_EMAIL) {
        const { tenant } = about
        const of = { req, fields, tenant, about }
        mailer.remind({ email, tenant, network, about }, async () => {
          const found = await findByAddress({ accounts, timeout }, of, email)
          return found?.account.disabled ? undefined : found?.account
        })
      }
      throw error
    }
  }
}
