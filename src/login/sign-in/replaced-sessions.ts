import type { Request } from 'express'
import { own } from '../../options/values.js'
import { isVerifiedToken } from '../../tokens/verified-token.js'
import { presentedIn } from '../refresh-cookie.js'
import type { RefreshRoutes } from '../refresh-mode.js'

/**
 * Reads which sessions a new cookie replaces: those of the cookies of the request, and that of its token, because the browser sends the cookie
 * only to the token endpoint.
 * @returns the function that ends those of an account. A session of another account stays, because its user has not signed in
 * @throws AuthError `invalid_body` for too many cookies
 */
export function replacedSessions({ refreshSteps, issuers }: RefreshRoutes, req: Request) {
  const ids = new Set(presentedIn(req, refreshSteps, issuers).map(({ sessionId }) => sessionId))
  const auth = own(req, 'auth')
  if (isVerifiedToken(auth) && auth.sessionId !== undefined && issuers.includes(auth.issuer)) ids.add(auth.sessionId)

  return async function endReplaced(accountId: string, address: string | undefined): Promise<void> {
    for (const sessionId of ids) {
      const session = await refreshSteps.findEvenExpired({ sessionId })
      if (session?.accountId === accountId) await refreshSteps.end(session, 'signed_out', address)
    }
  }
}
