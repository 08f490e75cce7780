import type { Request, Response } from 'express'
import { toRequestUser } from '../accounts/account.js'
import { createBodyReader } from '../login/body/request-body.js'
import { subjectOf } from '../login/create-login.js'
import { createIssuing, limitCalls } from '../login/issuing.js'
import { cookieValues, deleteCookie } from '../login/refresh-cookie.js'
import { cookiePath, type RefreshRoutes, refreshResponse, withinSession } from '../login/refresh-mode.js'
import type { TokenRouterSettings } from '../login/token-router-options.js'
import { isPlainObject, own } from '../options/values.js'
import { AuthError } from '../refusals/auth-error.js'
import type { RefreshRefusal } from '../refusals/codes.js'
import type { EventSubject } from '../refusals/events.js'
import { doneResponse, type HttpResponse, type RefreshMode } from '../refusals/responses.js'
import { assertOwnOrigin } from '../requests/cross-site.js'
import type { RequestOrigin } from '../requests/origin.js'
import type { RefreshTokenFacts } from '../sessions/refresh/refresh-token.js'
import { TOKEN_CALLS } from '../waiting/request-limits.js'
import { createTurnQueue } from '../waiting/turn-queue.js'
import { refresh, refused, signOut } from './refresh.js'

/** A refresh waits here before its body is parsed. */
const waitForTurn = createTurnQueue(TOKEN_CALLS)

type Settings = TokenRouterSettings & { refresh: RefreshRoutes }

/** The refusals after which the session of the refresh token is over for ever, so that its cookie is of no use. */
const OVER: ReadonlySet<unknown> = new Set<RefreshRefusal>([
  'ended',
  'reused',
  'unknown_account',
  'account_disabled',
  'superseded',
])

/** Creates the endpoint that refreshes a session: request → refresh token → account → token → response. */
export function createRefreshEndpoint(settings: Settings) {
  const { tokens, path, timeout, emit } = settings
  const { refreshing, findById } = settings.refresh
  const issue = createIssuing(settings)
  const present = createPresenter(settings)

  async function refreshed(req: Request, res: Response, origin: RequestOrigin, about: EventSubject) {
    const [presented, mode] = await present(req, origin)
    const { address, signal, source } = origin
    const asOf = new Date(Number(tokens.now()))
    return limitCalls(source, async (isWaiting) => {
      const { session, issued } = await refresh({
        refreshing,
        findById,
        timeout,
        presented,
        address,
        isWanted: () => isWaiting() && !res.headersSent && !signal.aborted,
        issue(found, { account, original }) {
          const expiresAt = refreshing.endOf(found.createdAt)
          const subject = withinSession(subjectOf(account, asOf), { ...found, expiresAt }, asOf.getTime())
          return issue(req, subject, toRequestUser({ account, original }))
        },
      })
      const { id: sessionId, accountId, state, expiresAt } = session
      const refreshToken = refreshing.write({ sessionId, generation: state.generation }, tokens.issuer)
      const maxAge = state.remember ? Math.floor((expiresAt.getTime() - asOf.getTime()) / 1000) : undefined
      const { id: tokenId, expiresAt: end, text } = issued
      emit(about, { type: 'session.refreshed', accountId, sessionId, tokenId, expiresAt: end })
      return refreshResponse(req, res, text, { mode, refreshToken, maxAge, path })
    })
  }

  return async function refreshResponseOf(...request: Parameters<typeof refreshed>): Promise<HttpResponse> {
    const [req, res] = request
    try {
      return await refreshed(...request)
    } catch (error) {
      if (OVER.has(Object(error).reason)) deleteCookie(res, cookiePath(req, path))
      throw error
    }
  }
}

/** Creates the endpoint that ends the session of a refresh token. */
export function createSignOutEndpoint(settings: Settings) {
  const { path } = settings
  const { refreshing } = settings.refresh
  const present = createPresenter(settings)

  return async function signOutResponseOf(req: Request, res: Response, origin: RequestOrigin): Promise<HttpResponse> {
    const { address, source } = origin
    const presented = await present(req, origin).catch((error) => {
      // Without a session there is nothing to end.
      if (Object(error).code !== 'invalid_refresh_token') throw error
      return undefined
    })
    if (presented) await limitCalls(source, () => signOut({ refreshing, presented: presented[0], address }))
    deleteCookie(res, cookiePath(req, path))
    return doneResponse()
  }
}

/** Creates the reader of the refresh token of a request. A text that this package did not sign is refused without a look-up. */
function createPresenter({ tokens, sessions, refresh, ...limits }: Settings) {
  const { refreshing, modeOf } = refresh
  const readBody = createBodyReader(limits)
  const issuers = [...new Set([tokens.issuer, ...(sessions?.issuers ?? [])])]

  async function textIn(req: Request, { source }: RequestOrigin): Promise<unknown> {
    const parseBody = await readBody(req)
    await waitForTurn(() => source)
    const body = parseBody()
    const text = isPlainObject(body) ? own(body, 'refreshToken') : undefined
    if (typeof text === 'string') return text
    throw new AuthError('invalid_body', { message: 'The request body must hold "refreshToken", once and a string.' })
  }

  return async function present(req: Request, origin: RequestOrigin): Promise<[RefreshTokenFacts, RefreshMode]> {
    const mode = modeOf(req)
    if (!mode) throw refused('missing')
    if (mode === 'body') {
      const presented = refreshing.read(await textIn(req, origin), issuers)
      if (!presented) throw refused('malformed')
      return [presented, mode]
    }
    assertOwnOrigin(req.headers, limits.allowedOrigins)
    return [presentedIn(cookieValues(req)), mode]
  }

  /** Reads the cookies. Another host of the domain may have set one of several. The user must not get the session of another account by it. */
  function presentedIn(values: readonly string[]): RefreshTokenFacts {
    if (values.length === 0) throw refused('missing')
    const read = values.flatMap((value) => refreshing.read(value, issuers) ?? [])
    const [newest] = read.sort((one, other) => other.generation - one.generation)
    if (!newest) throw refused('malformed')
    if (read.some(({ sessionId }) => sessionId !== newest.sessionId)) throw refused('several_cookies')
    return newest
  }
}
