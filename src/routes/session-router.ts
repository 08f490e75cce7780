import type { Request, RequestHandler, Router } from 'express'
import { createGate } from '../concurrency/gate.js'
import { callHost } from '../concurrency/host-call.js'
import { AuthError, isAuthError } from '../errors/auth-error.js'
import { refusalOf } from '../errors/refusal.js'
import { emitter } from '../events/emitter.js'
import type { AuthObserver } from '../events/events.js'
import { refusalEvent } from '../events/report-refusal.js'
import { authOf } from '../guard/require-bearer.js'
import { type HostOptions, hostSchema } from '../http/host-options.js'
import { addressOf, sourceOf } from '../http/origin.js'
import { methodNotAllowed, sendRefusal } from '../http/refuse.js'
import { GUARDED_REQUESTS } from '../http/request-limits.js'
import { doneResponse, ENDPOINTS, type HttpResponse, jsonResponse } from '../http/responses.js'
import { hasUnreadBody, sendResponse } from '../http/send-response.js'
import { brandOf } from '../options/brand.js'
import { func } from '../options/checks.js'
import { misuse, PAGE } from '../options/misuse.js'
import { readOptions } from '../options/read-options.js'
import { attempt } from '../options/values.js'
import { express } from '../packages/on-first-use.cjs'
import { sessionIdOf } from '../sessions/session.js'
import { type Sessions, withoutChange } from '../sessions/sessions.js'
import { sessionsOption } from '../sessions/sessions-option.js'
import { mayHaveSession, type VerifiedToken } from '../tokens/verified-token.js'

/** The options of `sessionRouter`. */
export interface SessionRouterOptions {
  /**
   * Admits the requests: the result of `requireBearer` with the same `sessions`, or another middleware that sets `req.auth`. With another
   * middleware, the sessions must have the option `issuers`.
   */
  guard: RequestHandler
  /** The sessions of the app: the result of `createSessions`. */
  sessions: Sessions
  /** Called when the store fails. Default: the router emits a process warning for its first failure. */
  onEvent?: AuthObserver | undefined
  /** The option `refuse` of `tokenRouter` and `requireBearer`. The guard needs it too. Default: problem details. */
  refuse?: HostOptions['refuse']
}

const schema = {
  guard: func<RequestHandler>('what requireBearer() returned'),
  sessions: sessionsOption,
  onEvent: hostSchema.onEvent,
  refuse: hostSchema.refuse,
}

const aliases = { requireBearer: 'guard', middleware: 'guard', store: 'sessions' }

/** The path of one session. It has no parameter, because Express responds itself when it cannot decode one. */
const ONE = /^\/[^/]+$/

const idOf = ({ path }: Request) => attempt(() => decodeURIComponent(path.slice(1))) ?? ''

/** Limits the requests that wait for the store of sessions. */
const { run: limitSessionCalls } = createGate(GUARDED_REQUESTS)

/** The time limit for the look-up of a session after a guard of the host, in milliseconds. */
const GUARD_MS = 5000

/**
 * Creates the router for a user's own sessions: `GET /` lists them, `DELETE /:id` ends one, `DELETE /` ends all others, and
 * `POST /sign-out` ends the current one. Mount it with its own path, such as `/sessions`.
 * @throws TypeError naming the option that is not valid, and for a guard that is optional or does not have these sessions. Also for another
 * middleware when the sessions do not name the issuers of the app
 */
export function sessionRouter(options: SessionRouterOptions): Router {
  const caller = 'sessionRouter'
  const read = readOptions<SessionRouterOptions, typeof schema>(caller, options, schema, aliases)
  const { guard, sessions, onEvent, refuse } = read
  const guardOptions = brandOf('Guard', guard) as { sessions: Sessions | undefined; optional: boolean } | undefined
  // A token that has signed out could otherwise list and end the sessions of its account.
  if (guardOptions && (guardOptions.sessions !== sessions || guardOptions.optional)) {
    throw misuse(
      `${caller}: the guard must have the same sessions, and must not be optional. Pass requireBearer({ tokens, sessions })`,
      PAGE.signOut,
    )
  }
  // Another guard may accept the tokens of a partner, which could name a session of the host.
  if (!guardOptions && !sessions.issuers) {
    throw misuse(
      `${caller}: with a guard other than requireBearer(), "sessions" must name the issuers of your app. Pass createSessions(store, { issuers })`,
      PAGE.signOut,
    )
  }
  const emit = emitter(onEvent)
  const router = express().Router({ caseSensitive: true, strict: true })

  type Part = 'sessions' | 'session' | 'signOut'
  /** Returns the JSON object of the response, if it has one. */
  type Run = (auth: VerifiedToken, req: Request) => Promise<object | undefined>

  function endpoint(part: Part, run: Run): RequestHandler {
    async function responseOf(auth: VerifiedToken, req: Request): Promise<HttpResponse | AuthError> {
      try {
        return await limitSessionCalls(sourceOf(req), async () => {
          // Old tokens and API keys must not show where their user is signed in. Another guard may admit a token whose session has ended.
          const hasEnded =
            !mayHaveSession(auth) ||
            (!guardOptions && (await callHost('sessions', () => sessions.isEnded(auth), { timeout: GUARD_MS })))
          if (hasEnded !== false) return new AuthError('invalid_token')
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
    return { sessions: found.map(({ accountId: _, ...session }) => ({ ...session, current: session.id === current })) }
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
  router.get(all, guard, endpoint('sessions', list))
  router.delete(all, guard, endpoint('sessions', endOthers))
  router.all(all, methodNotAllowed('sessions', refuse))
  router.post(ENDPOINTS.signOut.path, guard, endpoint('signOut', signOut))
  router.all(ENDPOINTS.signOut.path, methodNotAllowed('signOut', refuse))
  router.delete(ONE, guard, endpoint('session', endOne))
  router.all(ONE, methodNotAllowed('session', refuse))
  return router
}
