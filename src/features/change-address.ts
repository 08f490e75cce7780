import {
  type AccountParts,
  ADDRESS_BODY,
  accountCall,
  accountCalls,
  addressOfAccount,
  code,
  email,
  endedRefusal,
  findByAddress,
  hasEnded,
  mailCode,
  newAddress,
  notify,
  ownAccount,
  withSent,
} from '../account/account-parts.js'
import { callHost } from '../concurrency/host-call.js'
import { accepted, empty } from '../http/declaration.js'
import { endpoint } from '../http/endpoint.js'
import { withoutChange } from '../sessions/sessions.js'
import { CODES, type Feature, FIND_BY_ID, MAIL, onOrOff, recent, SESSIONS, user } from './feature.js'

/** The option of a change of the address in an app. */
export interface ChangeAddressOptions {
  /**
   * `true` lets users [change their email
   * address](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/account-routes.md#change-the-address).
   * Requires `mail`. Default: `false`.
   */
  changeAddress?: boolean | undefined
}

export const changeAddressOptions = { changeAddress: onOrOff }

const REPLACE_EMAIL = {
  part: 'accounts.replaceEmail',
  text: '"accounts" with "replaceEmail". Use kyselyAccounts, or add the method to your store',
}

/** A change of the address: the owner of the new mailbox proves it with a code. */
export const changeAddressFeature: Feature<AccountParts> = {
  at: 'account',
  options: changeAddressOptions,
  needs: { changeAddress: [MAIL, SESSIONS, CODES, FIND_BY_ID, REPLACE_EMAIL] },
  schemas: () => ({ EmailAddress: ADDRESS_BODY }),
  endpoints: [
    endpoint({
      id: 'changeAddress',
      method: 'POST',
      path: '/address',
      guard: recent,
      body: withSent({ email }, 'EmailAddress'),
      summary: 'Request a new email address',
      description: 'Emails a code to the new address. The owner of an account that has it gets a notice instead.',
      responses: {
        202: accepted('The code is emailed to the new address.'),
        422: 'invalid_email',
        429: 'too_many_attempts',
        503: ['overloaded', 'unavailable'],
      },
      calls: accountCalls,
      handle: (parts: AccountParts) => async (call) => {
        const { body, origin, about, auth, refuse } = call
        const of = accountCall(parts, call, body.sent)
        const to = await newAddress(parts, body.email)
        if (to === undefined) throw refuse('invalid_email')
        const { account } = await ownAccount(parts, auth)
        const from = addressOfAccount(account)
        const { mailer } = parts
        const { tenant } = of
        mailer.accept({ kind: 'new-address', email: to, tenant, network: origin.network, about }, async (deliver) => {
          const found = await findByAddress(parts, of, to)
          // A reset of the password ends the session before it removes the codes, so it finds this code or the session shows it.
          const isWanted = async () => !(await hasEnded(parts, auth))
          if (!found || found.account.id === account.id) {
            const task = { kind: 'new-address', to, owner: account.id, facts: { from }, isWanted } as const
            return mailCode(parts, of, deliver, task)
          }
          // Counted as by a sign-up: under the kind of this request, others could use up the owner's own change of the address.
          if (!mailer.mayMail('sign-up', tenant, found.account.id)) return
          await deliver({ kind: 'address-taken', to: addressOfAccount(found.account), details: {}, tenant })
        })
      },
    }),

    endpoint({
      id: 'confirmAddress',
      method: 'POST',
      path: '/address/confirm',
      guard: user,
      body: withSent({ code }),
      summary: 'Confirm the new email address',
      description: 'Replaces the address of the account. Ends its other sessions and all its codes.',
      responses: {
        204: empty('The address is replaced.'),
        403: 'invalid_code',
        409: 'address_taken',
        503: ['overloaded', 'unavailable'],
      },
      calls: accountCalls,
      handle(parts: AccountParts) {
        const { codes, accounts, timeout } = parts
        return async (call) => {
          const { body, origin, auth, report, refuse } = call
          const of = accountCall(parts, call, body.sent)
          const found = await codes.find('new-address', of.tenant, body.code)
          // A session of another account uses nothing up.
          if (found?.accountId !== auth.accountId || found.from === undefined) throw refuse('invalid_code')
          const { from, to } = found
          const { account } = await ownAccount(parts, auth)
          const replace = async () => accounts.replaceEmail?.(account.id, from, to)
          // Where it was replaced before, the rest of a request that was cut off remains.
          const isDone = account.email === to && from !== to
          const changed = { ...account, email: from }
          const announce = () => {
            report({ type: 'address.changed', accountId: account.id })
            notify(parts, of, { kind: 'address-changed', account: changed, details: { email: to } })
          }
          if (!isDone) {
            if (account.email !== from) throw refuse('invalid_code')
            if ((await callHost('accounts', replace, { timeout })) !== true) {
              const other = await findByAddress(parts, of, to)
              throw refuse(other && other.account.id !== account.id ? 'address_taken' : 'invalid_code')
            }
            // Also when the rest fails, because a thief would not repeat the request.
            const orAnnounce = (error: unknown) => {
              announce()
              throw error
            }
            if (await hasEnded(parts, auth).catch(orAnnounce)) {
              const restore = async () => accounts.replaceEmail?.(account.id, to, from)
              const isRestored = await callHost('accounts', restore, { timeout }).catch(orAnnounce)
              if (isRestored !== true) announce()
              throw endedRefusal(auth)
            }
          }
          announce()
          await parts.sessions?.endOthers(withoutChange(auth), origin.address)
          await parts.apiKeys?.removeAll(account.id)
          // Last, because the repetition of a request that was cut off needs its code.
          await codes.removeAll(account.id)
        }
      },
    }),
  ],
}
