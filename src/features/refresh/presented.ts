import type { Request } from 'express'
import { createTurnQueue } from '../../concurrency/turn-queue.js'
import { AuthError } from '../../errors/auth-error.js'
import { members, membersSchema, text, unlessCookie } from '../../http/declaration.js'
import { TOKEN_CALLS } from '../../http/request-limits.js'
import type { RefreshMode } from '../../http/responses.js'
import { cookieValues, newestIn } from '../../login/refresh-cookie.js'
import type { RefreshRoutes } from '../../login/refresh-mode.js'
import type { TokenSettings } from '../../login/token-settings.js'
import { own } from '../../options/values.js'
import type { RefreshTokenFacts } from '../../sessions/refresh/refresh-token.js'
import { refused } from './refresh-steps.js'

/** The dependencies of the endpoints of refresh tokens. */
export type RefreshParts = TokenSettings & { refresh: RefreshRoutes }

/** A refresh waits here before it is read. */
export const waitForTurn = createTurnQueue(TOKEN_CALLS)

/** The body of a client that keeps its refresh token itself. */
const withRefreshToken = { refreshToken: text('The newest refresh token of the session.') }

export const RefreshRequest = membersSchema(withRefreshToken)

export const refreshTokenBody = unlessCookie(members(withRefreshToken, 'RefreshRequest'))

const NO_COOKIE =
  'This endpoint expects the refresh token in its cookie, and the request has a body without the cookie.'

const hasBody = ({ headers }: Request) => Number(own(headers, 'content-length') ?? 0) > 0

/** A request whose refresh token is read. */
export interface PresentingCall {
  req: Request
  mode: RefreshMode | undefined
  body: { readonly refreshToken: string } | undefined
}

/** Creates the reader of the refresh token of a request. A text that this package did not sign is refused without a look-up. */
export function createPresenter({ refreshSteps, issuers }: Pick<RefreshRoutes, 'refreshSteps' | 'issuers'>) {
  function cookiesOf(req: Request): string[] {
    const values = cookieValues(req)
    // An app would take the refusal of a missing cookie for the end of its session.
    if (values.length === 0 && hasBody(req)) throw new AuthError('invalid_body', { message: NO_COOKIE })
    return values
  }

  return function present({ req, mode, body }: PresentingCall): readonly RefreshTokenFacts[] {
    const texts = mode === 'cookie' ? cookiesOf(req) : body ? [body.refreshToken] : []
    if (texts.length === 0) throw refused('missing')
    const presented = newestIn(texts.flatMap((text) => refreshSteps.read(text, issuers) ?? []))
    if (presented.length === 0) throw refused('malformed')
    return presented
  }
}
