import { randomBytes } from 'node:crypto'
import {
  type AccountParts,
  accountCall,
  accountCalls,
  checkOwnPassword,
  endedRefusal,
  hasEnded,
  hashNew,
  inSlot,
  newPassword,
  notify,
  ownAccount,
  replaceHash,
  withSent,
} from '../account/account-parts.js'
import { AuthError } from '../errors/auth-error.js'
import { empty, type Member, type Schema } from '../http/declaration.js'
import { endpoint } from '../http/endpoint.js'
import { withoutChange } from '../sessions/sessions.js'
import { signInOf, type VerifiedToken } from '../tokens/verified-token.js'
import { type Feature, FIND_BY_ID, onOrOff, RECENT_MS, SESSIONS, user } from './feature.js'
import { REPLACE_HASH } from './password-reset.js'

/** The option of a change of the password in an app. */
export interface ChangePasswordOptions {
  /**
   * `true` lets users [change their
   * password](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/account-routes.md#change-the-password).
   * Default: `false`.
   */
  changePassword?: boolean | undefined
}

export const changePasswordOptions = { changePassword: onOrOff }
/** An account without a password has the `null` of JSON, or an empty text of a form. */
const oldPassword: Member<string> = {
  schema: {
    type: 'string',
    format: 'password',
    description: 'The old password. Omit it for an account that has none.',
  },
  read: (value) => (value === undefined || value === null ? '' : newPassword.read(value)),
}

const ChangedPassword: Schema = {
  type: 'object',
  required: ['newPassword'],
  properties: { password: oldPassword.schema, newPassword: newPassword.schema },
}

/** @throws AuthError `insufficient_user_authentication` for a sign-in that is not recent */
function assertRecent(auth: VerifiedToken, now: number): void {
  // Not `<`: a time that is not a number must not pass.
  if (now - signInOf(auth) <= RECENT_MS) return
  throw new AuthError('insufficient_user_authentication', { maxAge: RECENT_MS / 1000, accountId: auth.accountId })
}

/** A change of the password by its user. */
export const changePasswordFeature: Feature<AccountParts> = {
  at: 'account',
  options: changePasswordOptions,
  needs: { changePassword: [SESSIONS, FIND_BY_ID, REPLACE_HASH] },
  schemas: () => ({ ChangedPassword }),
  endpoints: [
    endpoint({
      id: 'changePassword',
      method: 'POST',
      path: '/password',
      guard: user,
      body: withSent({ password: oldPassword, newPassword }, 'ChangedPassword'),
      summary: 'Change your password',
      description:
        'Ends the other sessions. An account without a password needs a recent sign-in instead of the old one.',
      isProblem: true,
      responses: {
        204: empty('The password is changed.'),
        401: 'insufficient_user_authentication',
        403: 'invalid_credentials',
        422: 'weak_password',
        429: 'too_many_attempts',
        503: ['overloaded', 'unavailable'],
      },
      events: 'token',
      calls: accountCalls,
      handle(parts: AccountParts) {
        const { sessions, codes, tokens } = parts

        return async (call) => {
          const { body, origin, auth, report, refuse } = call
          const of = accountCall(parts, call, body.sent)
          const found = await ownAccount(parts, auth)
          const { id, passwordHash: from } = found.account
          if (from === null) assertRecent(auth, Number(tokens.now()))
          else await checkOwnPassword(parts, of, found, body.password)
          const details = await parts.ownFactors.detailsOf(id)
          const to = await hashNew(parts, origin, body.newPassword)
          // Before the password is stored, too, because a request that is cut off afterwards could not be repeated with the old one.
          await sessions?.endOthers(withoutChange(auth), origin.address)
          await parts.apiKeys?.removeAll(id)
          if (!(await replaceHash(parts, { id, from, to })))
            throw refuse('invalid_credentials', { reason: 'superseded', accountId: id })
          // Also when the rest fails, because a request that is cut off there cannot be repeated.
          const announce = () => {
            report({ type: 'password.changed', accountId: id })
            notify(parts, of, { kind: 'password-changed', account: found.account, details })
          }
          const orAnnounce = (error: unknown) => {
            announce()
            throw error
          }
          if (await hasEnded(parts, auth).catch(orAnnounce)) {
            async function restore() {
              // An account without a password gets one that nobody knows.
              const before =
                from ?? (await inSlot(parts, origin, (slot) => slot.hash(randomBytes(32).toString('base64url'))))
              await replaceHash(parts, { id, from: to, to: before })
            }
            await restore().catch(orAnnounce)
            throw endedRefusal(auth)
          }
          announce()
          await sessions?.endOthers(auth, origin.address)
          await codes?.removeAll(id)
          await parts.apiKeys?.removeAll(id)
        }
      },
    }),
  ],
}
