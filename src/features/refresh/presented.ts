import type { Request } from 'express'
import { createTurnQueue } from '../../concurrency/turn-queue.js'
import { AuthError } from '../../errors/auth-error.js'
import { members, membersSchema, text, unlessCookie } from '../../http/declaration.js'
import { TOKEN_CALLS } from '../../http/request-limits.js'
import type { RefreshMode } from '../../http/responses.js'
import { hasCookie, presentedIn } from '../../login/refresh-cookie.js'
import type { RefreshRoutes } from '../../login/refresh-mode.js'
import type { SignInWithParts } from '../../login/sign-in-with.js'
import type { TokenSettings } from '../../login/token-settings.js'
import { own } from '../../options/values.js'
import type { RefreshTokenFacts } from '../../sessions/refresh/refresh-token.js'
import type { OldRefreshTokensSettings } from './old-refresh-options.js'
import { refused } from './refresh-steps.js'

/** The dependencies of the endpoints of refresh tokens. */
export type RefreshParts = TokenSettings &
  Pick<SignInWithParts, 'secondFactor'> & {
    refresh: RefreshRoutes
    oldRefreshTokens?: OldRefreshTokensSettings | undefined
  }

/** A refresh waits here before it is read. */
export const waitForTurn = createTurnQueue(TOKEN_CALLS)

/** The body of a client that keeps its refresh token itself. */
const withRefreshToken = { refreshToken: text('The newest refresh token of the session.') }

export const RefreshRequest = membersSchema(withRefreshToken)

const NO_COOKIE =
  'This endpoint reads the refresh token from a cookie, but the request contains a body and no cookie. Send the cookie.'

export const refreshTokenBody = unlessCookie(members(withRefreshToken, 'RefreshRequest'), NO_COOKIE)

const hasBody = ({ headers }: Request) => Number(own(headers, 'content-length') ?? 0) > 0

/** A request whose refresh token is read. */
export interface PresentingCall {
  req: Request
  mode: RefreshMode | undefined
  body: { readonly refreshToken: string } | undefined
}

/** Creates the reader of the refresh token of a request. A text that this package did not sign is refused without a look-up. */
export function createPresenter({ refreshSteps, issuers }: Pick<RefreshRoutes, 'refreshSteps' | 'issuers'>) {
  function ofCookies(req: Request): RefreshTokenFacts[] | undefined {
    if (hasCookie(req)) return presentedIn(req, refreshSteps, issuers)
    // An app that sends its refresh token in the body would take 204 for the end of its session.
    if (hasBody(req)) throw new AuthError('invalid_body', { message: NO_COOKIE })
    return undefined
  }

  /** Returns the refresh tokens of a request, one of each session. Undefined for a page without a cookie. */
  return function present({ req, mode, body }: PresentingCall): readonly RefreshTokenFacts[] | undefined {
    if (!mode) throw refused('missing')
    const presented = body ? [refreshSteps.read(body.refreshToken, issuers) ?? []].flat() : ofCookies(req)
    if (presented?.length === 0) throw refused('malformed')
    return presented
  }
}
