import type { Request, Response } from 'express'
import { callHost } from '../concurrency/host-call.js'
import { AuthError } from '../errors/auth-error.js'
import type { EventSubject } from '../events/emitter.js'
import { warnOnce } from '../events/warnings.js'
import { userAgentOf } from '../http/header-lines.js'
import type { RequestOrigin } from '../http/origin.js'
import { type HttpResponse, jsonResponse, type RefreshMode, tokenText } from '../http/responses.js'
import { actingIdOf } from '../sessions/acting-id.js'
import type { NewSession } from '../sessions/session.js'
import { createTokenId } from '../tokens/jwt/claims.js'
import type { IssuedToken, TokenSubject } from '../tokens/jwt/issue-token.js'
import type { VerifiedToken } from '../tokens/verified-token.js'
import { issueNowOf } from '../tokens/verifier.js'
import { createIssuing, limitCalls } from './issuing.js'
import { type KnownSignIn, keptTerms } from './known-sign-in.js'
import { type RefreshRoutes, refreshResponse, withinSession } from './refresh-mode.js'
import { CALL_CODES, type RefreshedSession, replacedSessions, startSession } from './start-session.js'
import type { TokenSettings } from './token-settings.js'

/** A sign-in that gets its token. */
interface FinishingSignIn extends KnownSignIn {
  req: Request
  /** The response, which gets the cookie. Required in the mode `'cookie'`. */
  res: Response | undefined
  origin: RequestOrigin
  /** The client of the events. */
  about: EventSubject
  mode: RefreshMode | undefined
  remember: boolean
  /** The name of the device. Default: what the option `sessionLabel` returns. */
  label?: NewSession['label']
  /** The path of the router with the token endpoint. Default: that of the request. */
  mountPath?: string | undefined
  /** The administrator who acts as the account. Default: none. */
  actor?: VerifiedToken | undefined
  /** Uses up what the sign-in has proved, as the last step. It rejects when another request has used it. Default: nothing. */
  useUp?: (() => Promise<void>) | undefined
}

interface WantedSignIn extends FinishingSignIn {
  isWanted(): boolean
}

export type FinishSignIn = (task: FinishingSignIn) => Promise<HttpResponse>

/** The token, the response, and the session that the token names. */
type Finished = readonly [IssuedToken, HttpResponse, sessionId?: string | undefined]

/** A session that has not started yet. */
interface BegunSession {
  id: string
  expiresAt: Date
  refresh?: string
  terms?: string | undefined
}

/** Creates the end of every sign-in: account → token → session → event → response. */
export function createFinish(settings: TokenSettings): FinishSignIn {
  const { tokens, path, timeout, respond, sessions, sessionLabel, refresh, emit } = settings
  const issue = createIssuing(settings)
  const issueNow = sessions || respond ? undefined : issueNowOf(tokens)
  const labelCalls = { timeout, passThrough: CALL_CODES, about: { option: 'sessionLabel' } } as const

  const noteMount = mountNotes(settings.mountPath)

  return async function finishSignIn(task) {
    noteMount(task)
    const { subject, origin, res, about, actor } = task
    const now = task.useUp ? undefined : issuedNow(subject)
    const [{ id: tokenId, expiresAt }, response, sessionId]: Finished = now
      ? [now, jsonResponse(tokenText(now))]
      : await limitCalls(origin.network, () => {
          const isWanted = () => !res?.headersSent && !origin.signal.aborted
          return issueLater({ ...task, isWanted })
        })
    const { accountId } = subject
    const actedBy = actor && { actorId: actor.accountId, actorIssuer: actor.issuer }
    emit(about, { type: 'token.issued', accountId, tokenId, ...(sessionId && { sessionId }), expiresAt, ...actedBy })
    return response
  }

  /** Issues a token without a function of the host, where that is possible. */
  function issuedNow(subject: TokenSubject): IssuedToken | undefined {
    try {
      return issueNow?.(subject)
    } catch (cause) {
      throw new AuthError('unavailable', { dependency: 'internal', cause })
    }
  }

  /** Calls the functions of the host. The session starts last, because a token whose session has started must be sent. */
  async function issueLater(task: WantedSignIn): Promise<Finished> {
    const { req, user, subject, mode, actor } = task
    if (refresh && mode) return issueWithRefresh(task, mode, refresh)
    const isActing = sessions !== undefined && actor !== undefined
    const sessionId = isActing ? actingIdOf(createTokenId(Number(tokens.now()))) : undefined
    const issued = await issue(req, isActing ? { ...subject, sessionId } : subject, user)
    await start(task, { id: sessionId ?? issued.id, expiresAt: issued.expiresAt })
    return [issued, jsonResponse(issued.text), sessionId]
  }

  async function issueWithRefresh(task: WantedSignIn, mode: RefreshMode, refresh: RefreshRoutes): Promise<Finished> {
    const { refreshSteps, cookie } = refresh
    const { req, res, user, subject, ofAccount, terms, remember, mountPath } = task
    const endReplaced = mode === 'cookie' ? replacedSessions(refresh, req) : undefined
    const now = Number(tokens.now())
    const id = createTokenId(now)
    const { refresh: state, expiresAt } = refreshSteps.begin(remember)
    const session = { id, createdAt: ofAccount.issuedAt, expiresAt }
    const issued = await issue(req, withinSession(subject, session, now), user)
    const kept = keptTerms(subject, ofAccount, terms)
    await start(task, { id, expiresAt, refresh: state, terms: kept }, { refreshSteps, endReplaced })
    const refreshToken = refreshSteps.write({ sessionId: id, generation: 0 }, tokens.issuer)
    const where = { path: (mountPath ?? req.baseUrl) + path, cookie, expiresAt, now }
    return [issued, refreshResponse(res, issued.text, { ...where, mode, refreshToken, remember }), id]
  }

  async function start(task: WantedSignIn, begun: BegunSession, ofRefresh: RefreshedSession = {}): Promise<void> {
    const { req, origin, subject, isWanted, recheckAccount, useUp } = task
    if (!sessions) return useUp?.()
    const { address } = origin
    const label = task.label ?? (sessionLabel && (await callHost('hook', () => sessionLabel(req), labelCalls)))
    const userAgent = userAgentOf(req)
    const session = { ...begun, accountId: subject.accountId, label, address, userAgent }
    await startSession({ sessions, session, recheckAccount, isWanted, useUp, timeout, ...ofRefresh })
  }
}

/**
 * Returns a function that notes sign-ins, and warns when the router is mounted at another path than the one that the app names. An app that
 * names none may mount it anywhere, unless `auth.signIn` sets the cookie of the router.
 */
function mountNotes(named = ''): (task: FinishingSignIn) => void {
  let mount: string | undefined
  let isNeeded = named !== ''
  return ({ req, mode, mountPath }) => {
    if (mountPath === undefined) mount = req.baseUrl
    else isNeeded ||= mode === 'cookie'
    // Express compares paths without regard to letter case.
    if (isNeeded && mount !== undefined && mount.toLowerCase() !== named.toLowerCase()) warnOnce('otherMount')
  }
}
