import { type AccountParts, accountCall, accountCalls, endEverything, ownAccount } from '../account/account-parts.js'
import { callHost } from '../concurrency/host-call.js'
import { empty } from '../http/declaration.js'
import { endpoint } from '../http/endpoint.js'
import { deleteCookie } from '../login/refresh-cookie.js'
import { resultOrUndefined } from '../options/values.js'
import { type Feature, FIND_BY_ID, onOrOff, recent, SESSIONS } from './feature.js'

/** The option of a deletion in an app. */
export interface DeletionOptions {
  /**
   * `true` lets users [delete their
   * account](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/account-routes.md#delete-an-account).
   * Default: `false`.
   */
  deletion?: boolean | undefined
}

export const deletionOptions = { deletion: onOrOff }

const REMOVE = {
  part: 'accounts.remove',
  text: '"accounts" with "remove". Use kyselyAccounts, or add the method to your store',
}

export type DeletionParts = Omit<AccountParts, 'mailer' | 'codes'> & Partial<Pick<AccountParts, 'codes'>>

/** The deletion of an account by its user. */
export const deletionFeature: Feature<DeletionParts> = {
  at: 'account',
  options: deletionOptions,
  needs: { deletion: [SESSIONS, FIND_BY_ID, REMOVE] },
  endpoints: [
    endpoint({
      id: 'deleteAccount',
      method: 'DELETE',
      path: '/',
      guard: recent,
      origin: 'own with cookie',
      summary: 'Delete your account',
      description: 'Ends all sessions and codes of the account, then removes it, and its factors.',
      responses: { 204: empty('The account was deleted.'), 503: ['overloaded', 'unavailable'] },
      calls: accountCalls,
      handle(parts: DeletionParts) {
        const { accounts, timeout, path, refresh } = parts
        return async (call) => {
          const { auth, req, res, origin, mode, report } = call
          // This request has no body, in which the host may look for the tenant: its events then have none.
          resultOrUndefined(() => accountCall(parts, call))
          const { account } = await ownAccount(parts, auth)
          const end = () => endEverything(parts, account.id, origin.address)
          await end()
          await callHost('accounts', async () => accounts.remove?.(account.id), { timeout })
          report({ type: 'account.removed', accountId: account.id })
          await parts.ownFactors.removeAll(account.id)
          // A sign-in in progress may have started a session meanwhile.
          await end()
          if (refresh && mode === 'cookie') deleteCookie(res, req.baseUrl + path, refresh.cookie)
        }
      },
    }),
  ],
}
