import { isAuthError } from '../../errors/auth-error.js'
import { empty } from '../../http/declaration.js'
import { endpoint } from '../../http/endpoint.js'
import { limitCalls } from '../../login/issuing.js'
import { deleteCookie } from '../../login/refresh-cookie.js'
import type { RefreshTokenFacts } from '../../sessions/refresh/refresh-token.js'
import { oldRefreshTokensOf } from './old-refresh-tokens.js'
import { createPresenter, type RefreshParts, refreshTokenBody, waitForTurn } from './presented.js'
import { signOut } from './refresh-steps.js'

/** Ends the session of a refresh token. Works when the access token has expired. */
export const signOutEndpoint = endpoint({
  id: 'endSignIn',
  method: 'POST',
  path: '/sign-out',
  origin: 'own with cookie',
  body: refreshTokenBody,
  summary: 'Sign out',
  description: 'Ends the session of the refresh token, even if the access token has expired.',
  responses: {
    204: empty('The session is over, or there was none.'),
    400: 'invalid_body',
    503: ['overloaded', 'unavailable'],
  },
  events: 'token',
  turns: waitForTurn,
  calls: limitCalls,
  handle(parts: RefreshParts) {
    const { refreshSteps, cookie } = parts.refresh
    const present = createPresenter(parts.refresh)
    const old = oldRefreshTokensOf(parts)

    return async (call) => {
      const { req, res, origin, mode, body } = call
      const { address } = origin
      // All of them, because another host of the domain may have set a cookie, too.
      async function end(found: readonly RefreshTokenFacts[] | undefined = []) {
        for (const presented of found) await signOut({ refreshSteps, address }, presented)
      }
      try {
        await end(presentedOrNone(() => present({ req, mode, body })))
      } finally {
        // Afterwards, because a network that has sent many unknown texts may not ask for old ones.
        await end(await old?.signOut(call))
      }
      old?.deleteCookie(call)
      if (mode === 'cookie') deleteCookie(res, req.baseUrl + parts.path, cookie)
    }
  },
})

/** Returns undefined for a request without a refresh token, because there is nothing to end. */
function presentedOrNone<T>(present: () => T): T | undefined {
  try {
    return present()
  } catch (error) {
    if (isAuthError(error) && error.code === 'invalid_refresh_token') return undefined
    throw error
  }
}
