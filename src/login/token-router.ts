import type { NextFunction, Request, Response, Router } from 'express'
import { describe } from '../options/read-options.js'
import { isPlainObject, isValidDate } from '../options/values.js'
import { express } from '../packages/on-first-use.cjs'
import { AuthError, asRefusal } from '../refusals/auth-error.js'
import { type EventSubject, reportedCopy } from '../refusals/events.js'
import { allHeaders, type HttpResponse, jsonResponse, refusalResponse, tokenResult } from '../refusals/responses.js'
import { hasUnreadBody, sendResponse } from '../refusals/send-response.js'
import { headerOf } from '../requests/header-lines.js'
import { addressOf, originOfRequest, type RequestOrigin } from '../requests/origin.js'
import type { IssuedToken } from '../tokens/jwt/issue-token.js'
import { issueNowOf } from '../tokens/verifier.js'
import { createGate } from '../waiting/gate.js'
import { callHost } from '../waiting/host-call.js'
import { TOKEN_CALLS } from '../waiting/request-limits.js'
import { confirmationOf } from './confirmation.js'
import type { LoginResult } from './create-login.js'
import { createCredentialsReader } from './read-credentials.js'
import { CALL_CODES, startSession } from './start-session.js'
import { readTokenRouterOptions, type TokenRouterOptions } from './token-router-options.js'

/** Limits the sign-ins that wait for functions of the host, because a hasher that waits for another service may be fast. */
const { run: limitCalls } = createGate(TOKEN_CALLS)

/**
 * Creates the router with the token endpoint: `POST` e-mail and password, get a token and its expiration. The router parses request
 * bodies itself, and accepts a body that the host's parser has parsed.
 * @throws TypeError naming the option that is not valid
 */
export function tokenRouter(options: TokenRouterOptions): Router {
  const settings = readTokenRouterOptions(options)
  const { tokens, path, bodyLimit, forwardErrors, respond, timeout, emailInEvents, sessions, sessionLabel } = settings
  const { login, emit, observer, reportRefusal } = settings
  sessions?.useFor([tokens.issuer], 'tokenRouter')
  const readCredentials = createCredentialsReader(settings)
  const calls = { timeout, passThrough: CALL_CODES }

  const issueNow = sessions || respond ? undefined : issueNowOf(tokens)

  async function responseOf(
    req: Request,
    res: Response,
    origin: RequestOrigin,
    subject: EventSubject,
  ): Promise<HttpResponse> {
    const credentials = await readCredentials(req, origin)
    if (emailInEvents) subject.email = credentials.email
    const loggedIn = await login.logIn(credentials, origin, emit, subject)
    const { accountId } = loggedIn.subject
    const issued: IssuedToken & { text?: string | undefined } =
      issueNow?.(loggedIn.subject) ??
      (await limitCalls(origin.source, (isWaiting) => {
        const isWanted = () => isWaiting() && !res.headersSent && !origin.signal.aborted
        return issueLater(req, origin, loggedIn, isWanted)
      }))
    const { token, expiresAt, id: tokenId, text = JSON.stringify(tokenResult(token, expiresAt)) } = issued
    emit(subject, { type: 'token.issued', accountId, tokenId, expiresAt })
    return jsonResponse(text)
  }

  /** Calls the functions of the host. The session starts last, because a token whose session has started must be sent. */
  async function issueLater(
    req: Request,
    { address }: RequestOrigin,
    { account, subject: owner }: LoginResult,
    isWanted: () => boolean,
  ) {
    const issued = readIssued(await callHost('internal', () => tokens.issue(owner), calls))
    const { token, expiresAt, id } = issued
    const text = respond && textOf(await callHost('internal', () => respond({ token, expiresAt, account, req }), calls))
    if (sessions) {
      const label = sessionLabel && (await callHost('internal', () => sessionLabel(req), calls))
      const userAgent = headerOf(req, 'user-agent') as string | undefined
      const session = { id, accountId: owner.accountId, expiresAt, label, address, userAgent }
      await startSession({ sessions, session, confirm: confirmationOf(owner), isWanted, timeout })
    }
    return { ...issued, text }
  }

  function refuse(thrown: unknown, subject: EventSubject, req: Request, res: Response, next: NextFunction): void {
    const error = asRefusal('token', thrown)
    reportRefusal(subject, error)
    const closes = hasUnreadBody(req, bodyLimit)
    const forward = (headers: AuthError['headers']) => next(reportedCopy(error, observer, headers))
    if (forwardErrors === 'all') forward(allHeaders('token', error, closes))
    else if (forwardErrors && error.code === 'unavailable') forward(error.headers)
    else sendResponse(res, refusalResponse('token', error), closes)
  }

  const router = express().Router({ caseSensitive: true, strict: true })
  router.post(path, async function tokenEndpoint(req, res, next) {
    try {
      const origin = originOfRequest(req)
      const subject: EventSubject = { address: origin.address }
      const refused = (thrown: unknown) => refuse(thrown, subject, req, res, next)
      const response = await responseOf(req, res, origin, subject).catch(refused)
      if (response) sendResponse(res, response)
    } catch (error) {
      // An error while sending belongs to the host, and the call has had its event.
      next(error)
    }
  })
  router.all(path, function tokenMethodNotAllowed(req, res, next) {
    refuse(new AuthError('method_not_allowed'), { address: addressOf(req) }, req, res, next)
  })
  return router
}

/** @throws TypeError when an issuer of the host did not return what `issue` returns */
function readIssued(issued: IssuedToken): IssuedToken {
  const { token, expiresAt, id } = Object(issued) as IssuedToken
  if (typeof token !== 'string' || !isValidDate(expiresAt) || typeof id !== 'string') {
    throw new TypeError('tokens.issue() must return { token, expiresAt, id }: a text, a Date and a text')
  }
  return { token, expiresAt, id }
}

/** @throws TypeError when `respond` did not return an object */
function textOf(body: unknown): string {
  const text = isPlainObject(body) ? JSON.stringify(body) : undefined
  if (!text?.startsWith('{')) throw new TypeError(`respond must return an object, but returned ${describe(body)}`)
  return text
}
