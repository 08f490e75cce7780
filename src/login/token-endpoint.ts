import type { Request, Response } from 'express'
import { findAccount } from '../accounts/find-account.js'
import type { EventSubject } from '../refusals/events.js'
import { type HttpResponse, jsonResponse, type RefreshMode } from '../refusals/responses.js'
import { assertOwnOrigin } from '../requests/cross-site.js'
import { headerOf } from '../requests/header-lines.js'
import type { RequestOrigin } from '../requests/origin.js'
import { createTokenId } from '../tokens/jwt/claims.js'
import { issueNowOf } from '../tokens/verifier.js'
import { callHost } from '../waiting/host-call.js'
import { confirmationOf, createConfirmation } from './confirmation.js'
import type { LoginResult } from './create-login.js'
import { createIssuing, type Issued, limitCalls, withText } from './issuing.js'
import { createCredentialsReader } from './read-credentials.js'
import { type RefreshRoutes, refreshResponse, withinSession } from './refresh-mode.js'
import { CALL_CODES, startSession } from './start-session.js'
import type { TokenRouterSettings } from './token-router-options.js'

/** Creates the token endpoint: request → credentials → account → token → response. */
export function createTokenEndpoint(settings: TokenRouterSettings) {
  const { tokens, path, respond, timeout, emailInEvents, sessions, sessionLabel, refresh, allowedOrigins } = settings
  const { login, emit } = settings
  const readCredentials = createCredentialsReader(settings)
  const issueNow = sessions || respond ? undefined : issueNowOf(tokens)
  const issue = createIssuing(settings)
  const calls = { timeout, passThrough: CALL_CODES }

  /** One sign-in after its login. */
  interface SignIn extends LoginResult {
    req: Request
    res: Response
    origin: RequestOrigin
    mode: RefreshMode | undefined
    remember: boolean
    isWanted(): boolean
  }

  return async function signIn(
    req: Request,
    res: Response,
    origin: RequestOrigin,
    subject: EventSubject,
  ): Promise<HttpResponse> {
    const mode = refresh?.modeOf(req)
    const { remember, ...credentials } = await readCredentials(req, origin)
    // A page of another origin could sign its visitor in with the account of an attacker.
    if (mode === 'cookie') assertOwnOrigin(req.headers, allowedOrigins)
    if (emailInEvents) subject.email = credentials.email
    const loggedIn = await login.logIn(credentials, origin, emit, subject)
    const now = issueNow?.(loggedIn.subject)
    const [issued, response] = now
      ? plain(withText(now))
      : await limitCalls(origin.source, (isWaiting) => {
          const isWanted = () => isWaiting() && !res.headersSent && !origin.signal.aborted
          return issueLater({ ...loggedIn, req, res, origin, mode, remember, isWanted })
        })
    const { accountId } = loggedIn.subject
    emit(subject, { type: 'token.issued', accountId, tokenId: issued.id, expiresAt: issued.expiresAt })
    return response
  }

  /** Calls the functions of the host. The session starts last, because a token whose session has started must be sent. */
  async function issueLater(task: SignIn): Promise<[Issued, HttpResponse]> {
    const { req, account, subject, mode } = task
    if (refresh && mode) return issueWithRefresh(task, mode, refresh)
    const issued = await issue(req, subject, account)
    await start(task, { id: issued.id, expiresAt: issued.expiresAt })
    return plain(issued)
  }

  async function issueWithRefresh(
    task: SignIn,
    mode: RefreshMode,
    { refreshing, findById }: RefreshRoutes,
  ): Promise<[Issued, HttpResponse]> {
    const { req, res, account, subject, remember } = task
    const { accountId } = subject
    const now = Number(tokens.now())
    const id = createTokenId(now)
    const { refresh: state, expiresAt } = refreshing.begin(remember)
    const createdAt = subject.issuedAt ?? new Date(now)
    const issued = await issue(req, withinSession(subject, { id, createdAt, expiresAt }, now), account)
    const lookUp = () => callHost('accounts', () => findAccount(findById, accountId), { timeout })
    // A login of the host may not confirm its sign-ins. The session still has to know the password hash of now.
    const confirm =
      confirmationOf(subject) ?? createConfirmation({ id: accountId, asOf: createdAt, lookUp, isKnown: () => true })
    await start(task, { id, expiresAt, refresh: state }, confirm)
    const refreshToken = refreshing.write({ sessionId: id, generation: 0 }, tokens.issuer)
    return [issued, refreshResponse(req, res, issued.text, { mode, refreshToken, remember, expiresAt, now, path })]
  }

  async function start(
    { req, origin, subject, isWanted }: SignIn,
    begun: BegunSession,
    confirm = confirmationOf(subject),
  ): Promise<void> {
    if (!sessions) return
    const { address } = origin
    const label = sessionLabel && (await callHost('internal', () => sessionLabel(req), calls))
    const userAgent = headerOf(req, 'user-agent') as string | undefined
    const session = { ...begun, accountId: subject.accountId, label, address, userAgent }
    const refreshing = begun.refresh === undefined ? undefined : refresh?.refreshing
    await startSession({ sessions, session, confirm, isWanted, timeout, refreshing })
  }
}

/** A session that has not started yet. */
interface BegunSession {
  id: string
  expiresAt: Date
  refresh?: string
}

const plain = (issued: Issued): [Issued, HttpResponse] => [issued, jsonResponse(issued.text)]
