import { passwordTag } from '../account/account-codes.js'
import {
  type AccountParts,
  ADDRESS_BODY,
  accountCall,
  accountCalls,
  code,
  email,
  endEverything,
  hashNew,
  inSlot,
  mailToAccount,
  newPassword,
  notify,
  replaceHash,
  withSent,
} from '../account/account-parts.js'
import type { Account } from '../accounts/account.js'
import { findAccount } from '../accounts/find-account.js'
import { accepted, empty } from '../http/declaration.js'
import { endpoint } from '../http/endpoint.js'
import type { RequestOrigin } from '../http/origin.js'
import { CODES, type Feature, FIND_BY_ID, MAIL, type Need, onOrOff, SESSIONS } from './feature.js'

/** The option of a password reset in an app. */
export interface PasswordResetOptions {
  /**
   * `true` lets users [reset their
   * password](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/account-routes.md#reset-a-password)
   * with an emailed code. Requires `mail`. Default: `false`.
   */
  passwordReset?: boolean | undefined
}

export const passwordResetOptions = { passwordReset: onOrOff }

export const REPLACE_HASH: Need = {
  part: 'accounts.replacePasswordHash',
  text: '"accounts" with "replacePasswordHash". Use kyselyAccounts, or add the method to your store',
}

/** Finds the account of a code. Undefined for one that may not use it any more. */
async function accountOf(parts: AccountParts, accountId: string, to: string): Promise<Account | undefined> {
  const found = await findAccount(parts.findById, accountId, parts.timeout)
  return found && !found.account.disabled && found.account.email === to ? found.account : undefined
}

/** Password reset: the owner of the mailbox sets the password. */
export const passwordResetFeature: Feature<AccountParts> = {
  at: 'account',
  options: passwordResetOptions,
  needs: { passwordReset: [MAIL, SESSIONS, CODES, FIND_BY_ID, REPLACE_HASH] },
  schemas: () => ({ EmailAddress: ADDRESS_BODY }),
  endpoints: [
    endpoint({
      id: 'forgotPassword',
      method: 'POST',
      path: '/password/forgotten',
      body: withSent({ email }, 'EmailAddress'),
      summary: 'Request a password reset',
      description: 'Emails a code to the address of the account, if there is one.',
      responses: {
        202: accepted('The code is emailed if the address has an account that is not disabled.'),
        429: 'too_many_attempts',
        503: ['overloaded', 'unavailable'],
      },
      calls: accountCalls,
      handle: (parts: AccountParts) => async (call) => mailToAccount(parts, call, 'password-reset'),
    }),

    endpoint({
      id: 'resetPassword',
      method: 'POST',
      path: '/password/reset',
      body: withSent({ code, password: newPassword }),
      summary: 'Set a new password',
      description: 'Ends all sessions and codes of the account. Passkeys and the second factor stay.',
      isProblem: true,
      responses: {
        204: empty('The password is set.'),
        403: 'invalid_code',
        422: 'weak_password',
        503: ['overloaded', 'unavailable'],
      },
      calls: accountCalls,
      handle(parts: AccountParts) {
        const { codes, sessions } = parts

        /** Sets the password. Returns false when the account has another password or address than at the look-up. */
        async function set({ id, passwordHash: from }: Account, to: string, password: string, origin: RequestOrigin) {
          const hash = await hashNew(parts, origin, password)
          // Before the password is stored, too, because a request that is cut off then could not be repeated. And before the address is
          // compared: a change of the address that is in progress either shows here, or finds its session ended.
          await sessions?.endAll(id, origin.address)
          if (!(await accountOf(parts, id, to))) return false
          return replaceHash(parts, { id, from, to: hash })
        }

        return async (call) => {
          const { body, origin, report, refuse } = call
          const of = accountCall(parts, call, body.sent)
          const found = await codes.find('password-reset', of.tenant, body.code)
          const account = found && (await accountOf(parts, found.accountId, found.to))
          if (!found || !account) throw refuse('invalid_code')
          const details = await parts.ownFactors.detailsOf(account.id)
          if (found.tag === passwordTag(account.passwordHash)) {
            if (!(await set(account, found.to, body.password, origin))) throw refuse('invalid_code')
          } else {
            // The repetition of a reset that was cut off. A wrong guess uses the code up, because it could check any number of passwords.
            const isSame = await inSlot(parts, origin, (slot) => slot.verify(body.password, account.passwordHash))
            if (!isSame) {
              await codes.take('password-reset', of.tenant, body.code)
              throw refuse('invalid_code')
            }
          }
          report({ type: 'password.changed', accountId: account.id })
          notify(parts, of, { kind: 'password-changed', account, details })
          await endEverything(parts, account.id, origin.address)
        }
      },
    }),
  ],
}
