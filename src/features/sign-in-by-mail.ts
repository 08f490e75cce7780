import { passwordTag } from '../account/account-codes.js'
import {
  type AccountParts,
  ADDRESS_BODY,
  accountCall,
  accountCalls,
  code,
  email,
  mailToAccount,
  withSent,
} from '../account/account-parts.js'
import { findAccount } from '../accounts/find-account.js'
import { limitTasks } from '../concurrency/limit.js'
import { accepted, membersSchema } from '../http/declaration.js'
import { endpoint } from '../http/endpoint.js'
import { TOKEN_CALLS } from '../http/request-limits.js'
import { BY_MAIL } from '../login/before-sign-in.js'
import { rememberIn } from '../login/read-credentials.js'
import { FACTOR_REFUSALS, OTP_MEMBER } from '../login/second-factor.js'
import { signInWith } from '../login/sign-in-with.js'
import { isFailedLogin } from '../login/steps.js'
import { CODES, type Feature, FIND_BY_ID, MAIL, onOrOff } from './feature.js'
import { withMember, withToken } from './sign-in.js'

/** The option of a sign-in by mail in an app. */
export interface SignInByMailOptions {
  /**
   * `true` lets users [sign in with an emailed
   * code](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/account-routes.md#sign-in-by-email).
   * Requires `mail`. Default: `false`.
   */
  signInByMail?: boolean | undefined
}

export const signInByMailOptions = { signInByMail: onOrOff }

/** The uses of each code at the same time. Several at once could each check another code of a second factor before one uses the code up. */
const usesOfCode = limitTasks({ total: TOKEN_CALLS.total, perNetwork: 1 })

/** The sign-in by a mailed code. It never creates an account. */
export const signInByMailFeature: Feature<AccountParts> = {
  at: 'token',
  options: signInByMailOptions,
  needs: { signInByMail: [MAIL, CODES, FIND_BY_ID] },
  schemas: ({ hasFactors }) => ({
    EmailAddress: ADDRESS_BODY,
    MailedCode: hasFactors ? withMember(membersSchema({ code }), OTP_MEMBER) : membersSchema({ code }),
  }),
  endpoints: [
    endpoint({
      id: 'mailSignIn',
      method: 'POST',
      path: '/mail',
      body: withSent({ email }, 'EmailAddress'),
      summary: 'Request a sign-in code',
      description: 'Emails a code to the address of the account, if there is one. It works for ten minutes.',
      responses: {
        202: accepted('The code is emailed if the address has an account that is not disabled.'),
        429: 'too_many_attempts',
        503: ['overloaded', 'unavailable'],
      },
      events: 'token',
      calls: accountCalls,
      handle: (parts: AccountParts) => async (call) => mailToAccount(parts, call, 'sign-in'),
    }),

    endpoint({
      id: 'confirmMailSignIn',
      method: 'POST',
      path: '/mail/confirm',
      origin: 'own with cookie',
      body: withSent({ code }, 'MailedCode'),
      summary: 'Sign in with an emailed code',
      description: 'The response is that of the token endpoint.',
      responses: {
        200: { ...withToken, description: 'The token and its expiration time.', ownDescription: 'The token.' },
        403: 'invalid_credentials',
        503: ['overloaded', 'unavailable'],
      },
      ofHost: true,
      ofFactor: FACTOR_REFUSALS,
      events: 'token',
      calls: accountCalls,
      handle(parts: AccountParts) {
        const { codes, findById, timeout, tokens } = parts
        return (call) =>
          usesOfCode(call.body.code, async () => {
            const { body, req, res, origin, about, mode, refuse } = call
            const of = accountCall(parts, call, body.sent)
            const take = () => codes.take('sign-in', of.tenant, body.code)
            const given = await codes.find('sign-in', of.tenant, body.code)
            const lookedUpAt = new Date(Number(tokens.now()))
            const found = given && (await findAccount(findById, given.accountId, timeout))
            if (!found || found.account.email !== given.to || passwordTag(found.account.passwordHash) !== given.tag)
              throw refuse('invalid_credentials')
            const signIn = { ...of, ...BY_MAIL, found, accountId: given.accountId, lookedUpAt }
            const known = await signInWith(parts, signIn).catch(async (error: unknown) => {
              // Otherwise a mailed code would check any number of codes of a second factor.
              if (isFailedLogin(error, of.fields)) await take()
              throw error
            })
            const useUp = async () => {
              if (!(await take())) throw refuse('invalid_credentials')
            }
            const remember = rememberIn(body.sent)
            return parts.finishSignIn({ ...known, req, res, origin, about, mode, useUp, remember })
          })
      },
    }),
  ],
}
