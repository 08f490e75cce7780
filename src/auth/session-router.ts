import type { Request, RequestHandler, Router } from 'express'
import { limitTasks } from '../concurrency/limit.js'
import { AuthError, isAuthError } from '../errors/auth-error.js'
import { refusalOf } from '../errors/refusal.js'
import type { Emit } from '../events/emitter.js'
import { refusalEvent } from '../events/report-refusal.js'
import { authOf } from '../guard/require-bearer.js'
import { clientNetwork } from '../http/client-network.js'
import { addressOf } from '../http/origin.js'
import { methodNotAllowed, type Refuse, sendRefusal } from '../http/refuse.js'
import { GUARDED_REQUESTS } from '../http/request-limits.js'
import { doneResponse, ENDPOINTS, type HttpResponse, jsonResponse } from '../http/responses.js'
import { hasUnreadBody, sendResponse } from '../http/send-response.js'
import { resultOrUndefined } from '../options/values.js'
import { express } from '../packages/on-first-use.cjs'
import { type Session, sessionIdOf } from '../sessions/session.js'
import { type Sessions, withoutChange } from '../sessions/sessions.js'
import { mayHaveSession, type VerifiedToken } from '../tokens/verified-token.js'

interface SessionRouterSettings {
  /** A guard with these sessions, which is not optional: a token that has signed out could otherwise end the sessions of its account. */
  guard: RequestHandler
  /** The guard that refuses administrators who act as the user. It may only end their own session. */
  ownGuard: RequestHandler
  sessions: Sessions
  emit: Emit
  refuse: Refuse | undefined
}

/** The path of one session. It has no parameter, because Express responds itself when it cannot decode one. */
const ONE = /^\/[^/]+$/

const idOf = ({ path }: Request) => resultOrUndefined(() => decodeURIComponent(path.slice(1))) ?? ''

/** Limits the requests that wait for the store of sessions. */
const limitSessionCalls = limitTasks(GUARDED_REQUESTS)

const [HOUR, DAY] = [3_600_000, 86_400_000]

/**
 * Returns a session as a client may see it. A thief with the token of a session could otherwise see when its owner refreshes, and refresh
 * just then without being noticed.
 */
function shown({ accountId: _, createdAt, lastUsedAt, expiresAt, ...session }: Session) {
  const hour = Math.floor(+lastUsedAt / HOUR) * HOUR
  return {
    ...session,
    createdAt,
    expiresAt: new Date(Math.ceil(+expiresAt / DAY) * DAY),
    lastUsedAt: new Date(Math.max(hour, +createdAt)),
  }
}

/**
 * Creates the router for a user's own sessions: `GET /` lists them, `DELETE /:id` ends one, `DELETE /` ends all others, and
 * `POST /sign-out` ends the current one.
 */
export function sessionRouter({ guard, ownGuard, sessions, emit, refuse }: SessionRouterSettings): Router {
  const router = express().Router({ caseSensitive: true, strict: true })

  type Part = 'sessions' | 'session' | 'signOut'
  /** Returns the JSON object of the response, if it has one. */
  type Run = (auth: VerifiedToken, req: Request) => Promise<object | undefined>

  function endpoint(part: Part, run: Run): RequestHandler {
    async function responseOf(auth: VerifiedToken, req: Request): Promise<HttpResponse | AuthError> {
      try {
        return await limitSessionCalls(clientNetwork(addressOf(req)), async () => {
          // Old tokens and API keys must not show where their user is signed in.
          if (!mayHaveSession(auth)) return new AuthError('invalid_token')
          const result = await run(auth, req)
          return result ? jsonResponse(JSON.stringify(result)) : doneResponse()
        })
      } catch (thrown) {
        const error = refusalOf(part, thrown)
        if (error.dependency) emit({ address: addressOf(req) }, refusalEvent(part, error))
        return error
      }
    }
    return function sessionEndpoint(req, res, next) {
      responseOf(authOf(req), req)
        .then((ended) => {
          const closes = hasUnreadBody(req, 0)
          if (isAuthError(ended)) sendRefusal(refuse, ended, req, res, next, closes)
          else sendResponse(res, ended, closes)
        })
        .catch(next)
    }
  }

  const list: Run = async (auth) => {
    const found = await sessions.list(auth.accountId)
    const current = sessionIdOf(auth)
    return { sessions: found.map((session) => ({ ...shown(session), current: session.id === current })) }
  }
  const endOthers: Run = async (auth, req) => {
    await sessions.endOthers(withoutChange(auth), addressOf(req))
  }
  const endOne: Run = async (auth, req) => {
    if (!(await sessions.end(auth, idOf(req), addressOf(req)))) throw new AuthError('unknown_session')
  }
  const signOut: Run = async (auth, req) => {
    await sessions.end(auth, sessionIdOf(auth), addressOf(req))
  }

  const { path: all } = ENDPOINTS.sessions
  router.get(all, ownGuard, endpoint('sessions', list))
  router.delete(all, ownGuard, endpoint('sessions', endOthers))
  router.all(all, methodNotAllowed('sessions', refuse))
  router.post(ENDPOINTS.signOut.path, guard, endpoint('signOut', signOut))
  router.all(ENDPOINTS.signOut.path, methodNotAllowed('signOut', refuse))
  router.delete(ONE, ownGuard, endpoint('session', endOne))
  router.all(ONE, methodNotAllowed('session', refuse))
  return router
}
