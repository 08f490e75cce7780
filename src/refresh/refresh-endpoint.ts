import type { Request, Response } from 'express'
import { createTurnQueue } from '../concurrency/turn-queue.js'
import { AuthError, isAuthError } from '../errors/auth-error.js'
import type { RefreshRefusal } from '../errors/codes.js'
import type { EventSubject } from '../events/emitter.js'
import { createBodyReader } from '../http/body.js'
import { assertOwnOrigin } from '../http/cross-site.js'
import type { RequestOrigin } from '../http/origin.js'
import { TOKEN_CALLS } from '../http/request-limits.js'
import { doneResponse, type HttpResponse, type RefreshMode } from '../http/responses.js'
import { deleteCookie, hasCookie, presentedIn } from '../login/refresh-cookie.js'
import { type RefreshRoutes, refreshResponse, withinSession } from '../login/refresh-mode.js'
import { createIssuing, limitCalls } from '../login/sign-in/issuing.js'
import { subjectOf, withKeptTerms } from '../login/steps/sign-in-terms.js'
import type { TokenSettings } from '../login/token-settings.js'
import { isPlainObject, own } from '../options/values.js'
import type { RefreshTokenFacts } from '../sessions/refresh/refresh-token.js'
import { refresh, refused, signOut } from './refresh.js'

/** A refresh waits here before its body is parsed. */
const waitForTurn = createTurnQueue(TOKEN_CALLS)

type RefreshEndpointSettings = TokenSettings & { refresh: RefreshRoutes }

/** The refusals after which the session of the refresh token is over for ever, so that its cookie is of no use. */
const OVER: ReadonlySet<unknown> = new Set<RefreshRefusal>([
  'ended',
  'reused',
  'unknown_account',
  'account_disabled',
  'superseded',
])

/** Creates the endpoint that refreshes a session: request → refresh token → account → token → response. */
export function createRefreshEndpoint(settings: RefreshEndpointSettings) {
  const { tokens, path, timeout, emit } = settings
  const { refreshSteps, findById, modeOf } = settings.refresh
  const issue = createIssuing(settings)
  const present = createPresenter(settings)

  async function refreshed(
    req: Request,
    res: Response,
    origin: RequestOrigin,
    about: EventSubject,
    mode: RefreshMode | undefined,
  ): Promise<HttpResponse> {
    const texts = await present(req, origin, mode)
    // Nobody is signed in. A refusal would be an error in the console of each visitor.
    if (!texts) return doneResponse()
    const { address, network, signal } = origin
    const lookedUpAt = new Date(Number(tokens.now()))
    return limitCalls(network, async () => {
      const { session, issued, presented } = await refresh({
        refreshSteps,
        findById,
        timeout,
        presented: texts,
        address,
        isWanted: () => !res.headersSent && !signal.aborted,
        issue({ presented: { terms }, session: found, found: { account, user } }) {
          const expiresAt = refreshSteps.endOf(found)
          const narrowed = withKeptTerms(subjectOf(account, lookedUpAt), terms)
          const subject = withinSession(narrowed, { ...found, expiresAt }, lookedUpAt.getTime())
          return issue(req, subject, user)
        },
      })
      const { id: sessionId, accountId, state, expiresAt } = session
      const { generation, remember } = state
      const refreshToken = refreshSteps.write({ sessionId, generation, terms: presented.terms }, tokens.issuer)
      const { id: tokenId, expiresAt: end, text } = issued
      emit(about, { type: 'session.refreshed', accountId, sessionId, tokenId, expiresAt: end })
      const now = lookedUpAt.getTime()
      const where = { path: req.baseUrl + path, expiresAt, now }
      return refreshResponse(res, text, { ...where, mode, refreshToken, remember })
    })
  }

  return async function refreshResponseOf(req: Request, res: Response, origin: RequestOrigin, about: EventSubject) {
    const mode = modeOf(req)
    try {
      return await refreshed(req, res, origin, about, mode)
    } catch (error) {
      const isOver = isAuthError(error) && OVER.has(own(error, 'reason'))
      if (isOver && mode === 'cookie') deleteCookie(res, req.baseUrl + path)
      throw error
    }
  }
}

/** Creates the endpoint that ends the session of a refresh token. */
export function createSignOutEndpoint(settings: RefreshEndpointSettings) {
  const { path } = settings
  const { refreshSteps, modeOf } = settings.refresh
  const present = createPresenter(settings)

  return async function signOutResponseOf(req: Request, res: Response, origin: RequestOrigin): Promise<HttpResponse> {
    const { address, network } = origin
    const mode = modeOf(req)
    const found = await present(req, origin, mode).catch((error) => {
      // Without a session there is nothing to end.
      if (isAuthError(error) && error.code === 'invalid_refresh_token') return undefined
      throw error
    })
    await limitCalls(network, async () => {
      // All of them, because another host of the domain may have set a cookie, too.
      for (const presented of found ?? []) await signOut({ refreshSteps, address }, presented)
    })
    if (mode === 'cookie') deleteCookie(res, req.baseUrl + path)
    return doneResponse()
  }
}

const NO_COOKIE =
  'This endpoint expects the refresh token in its cookie, and the request has a body without the cookie.'

const hasBody = ({ headers }: Request) => Number(own(headers, 'content-length') ?? 0) > 0

/** Creates the reader of the refresh token of a request. A text that this package did not sign is refused without a look-up. */
function createPresenter({ refresh, ...limits }: RefreshEndpointSettings) {
  const { refreshSteps, issuers } = refresh
  const readBody = createBodyReader(limits)

  async function ofBody(req: Request, network: string): Promise<RefreshTokenFacts[]> {
    const parseBody = await readBody(req)
    await waitForTurn(network, req.socket)
    const body = parseBody()
    const text = isPlainObject(body) ? own(body, 'refreshToken') : undefined
    if (typeof text === 'string') return [refreshSteps.read(text, issuers) ?? []].flat()
    throw new AuthError('invalid_body', { message: 'The request body must hold "refreshToken", once and a string.' })
  }

  async function ofCookies(req: Request, network: string): Promise<RefreshTokenFacts[] | undefined> {
    assertOwnOrigin(req.headers, limits.allowedOrigins)
    await waitForTurn(network, req.socket)
    if (hasCookie(req)) return presentedIn(req, refreshSteps, issuers)
    // An app that sends its refresh token in the body would take 204 for the end of its session.
    if (hasBody(req)) throw new AuthError('invalid_body', { message: NO_COOKIE })
    return undefined
  }

  /** Returns the refresh tokens of a request, one of each session. Undefined for a page without a cookie. */
  return async function present(
    req: Request,
    { network }: RequestOrigin,
    mode: RefreshMode | undefined,
  ): Promise<readonly RefreshTokenFacts[] | undefined> {
    if (!mode) throw refused('missing')
    // Nothing is awaited before the body is read, because a listener of the host may already make it flow.
    const presented = await (mode === 'body' ? ofBody : ofCookies)(req, network)
    if (presented?.length === 0) throw refused('malformed')
    return presented
  }
}
