import type { Request, Response } from 'express'
import { findAccount } from '../../accounts/find-account.js'
import { callHost } from '../../concurrency/host-call.js'
import { AuthError } from '../../errors/auth-error.js'
import { headerOf } from '../../http/header-lines.js'
import type { RequestOrigin } from '../../http/origin.js'
import { type HttpResponse, jsonResponse, type RefreshMode } from '../../http/responses.js'
import type { Refreshing } from '../../sessions/refresh/refreshing.js'
import type { NewSession } from '../../sessions/session.js'
import { createTokenId } from '../../tokens/jwt/claims.js'
import type { LoginResult } from '../create-login.js'
import { type RefreshRoutes, refreshResponse, withinSession } from '../refresh-mode.js'
import { createConfirmation, type LookUp, lookUpOf } from '../steps/confirmation.js'
import { keptTerms, subjectOf } from '../steps/sign-in-terms.js'
import type { TokenRouterSettings } from '../token-router-options.js'
import { createIssuing, type Issued, limitCalls } from './issuing.js'
import { CALL_CODES, startSession } from './start-session.js'

/** A sign-in whose account is known. */
export interface KnownSignIn extends LoginResult {
  req: Request
  /** The response, which gets the cookie. Required in the mode `'cookie'`. */
  res: Response | undefined
  origin: RequestOrigin
  mode: RefreshMode | undefined
  remember: boolean
  /** The name of the device. Default: what the option `sessionLabel` returns. */
  label?: NewSession['label']
  /** The path of the router with the token endpoint. Default: that of the request. */
  mountPath?: string | undefined
}

interface WantedSignIn extends KnownSignIn {
  isWanted(): boolean
}

type FinishSettings = Pick<
  TokenRouterSettings,
  'tokens' | 'path' | 'respond' | 'timeout' | 'sessions' | 'sessionLabel' | 'refresh'
>

/** A session that has not started yet. */
interface BegunSession {
  id: string
  expiresAt: Date
  refresh?: string
}

/** Creates the end of a sign-in: account → token → session → response. */
export function createFinish(settings: FinishSettings) {
  const { tokens, path, timeout, sessions, sessionLabel, refresh } = settings
  const issue = createIssuing(settings)
  const labelCalls = { timeout, passThrough: CALL_CODES, about: { option: 'sessionLabel' } } as const

  return function finishSignIn(task: KnownSignIn): Promise<[Issued, HttpResponse]> {
    const { origin, res } = task
    return limitCalls(origin.source, (isWaiting) => {
      const isWanted = () => isWaiting() && !res?.headersSent && !origin.signal.aborted
      return issueLater({ ...task, isWanted })
    })
  }

  /** Calls the functions of the host. The session starts last, because a token whose session has started must be sent. */
  async function issueLater(task: WantedSignIn): Promise<[Issued, HttpResponse]> {
    const { req, account, subject, mode } = task
    if (refresh && mode) return issueWithRefresh(task, mode, refresh)
    const issued = await issue(req, subject, account)
    await start(task, { id: issued.id, expiresAt: issued.expiresAt }, lookUpOf(subject))
    return [issued, jsonResponse(issued.text)]
  }

  async function issueWithRefresh(
    task: WantedSignIn,
    mode: RefreshMode,
    routes: RefreshRoutes,
  ): Promise<[Issued, HttpResponse]> {
    const { req, res, account, subject, remember, mountPath } = task
    const { refreshing } = routes
    const now = Number(tokens.now())
    const id = createTokenId(now)
    const { refresh: state, expiresAt } = refreshing.begin(remember)
    const createdAt = subject.issuedAt ?? new Date(now)
    // A login of the host may not tell. The session still has to know the account as it is.
    const lookUp = lookUpOf(subject) ?? (await lookUpById(routes, subject.accountId, createdAt))
    const issued = await issue(req, withinSession(subject, { id, createdAt, expiresAt }, now), account)
    const terms = keptTerms(subject, lookUp.subject, lookUp.terms)
    await start(task, { id, expiresAt, refresh: state }, lookUp, refreshing)
    const refreshToken = refreshing.write({ sessionId: id, generation: 0, terms }, tokens.issuer)
    const where = { path: (mountPath ?? req.baseUrl) + path, expiresAt, now }
    return [issued, refreshResponse(res, issued.text, { ...where, mode, refreshToken, remember })]
  }

  /** Looks up the account of a sign-in that a function of the host has done. */
  async function lookUpById({ findById }: RefreshRoutes, id: string, asOf: Date): Promise<LookUp> {
    const lookUp = () => findAccount(findById, id, timeout)
    const found = await lookUp()
    if (!found) throw new AuthError('invalid_credentials', { reason: 'unknown_account', accountId: id })
    const confirm = createConfirmation({ id, asOf, lookUp, isKnown: () => true })
    return { confirm, subject: subjectOf(found.account, asOf) }
  }

  async function start(
    task: WantedSignIn,
    begun: BegunSession,
    lookUp: LookUp | undefined,
    refreshing?: Refreshing,
  ): Promise<void> {
    if (!sessions) return
    const { req, origin, subject, isWanted } = task
    const { address } = origin
    const label = task.label ?? (sessionLabel && (await callHost('hook', () => sessionLabel(req), labelCalls)))
    const userAgent = headerOf(req, 'user-agent') as string | undefined
    const session = { ...begun, accountId: subject.accountId, label, address, userAgent }
    await startSession({ sessions, session, confirm: lookUp?.confirm, isWanted, timeout, refreshing })
  }
}
