import type { IncomingMessage, ServerResponse } from 'node:http'
import { isUserOf } from '../accounts/request-user.js'
import { AuthError, isAuthError } from '../errors/auth-error.js'
import { missingToken } from '../errors/codes.js'
import { REVALIDATED } from '../errors/headers.js'
import { type Emit, emitter } from '../events/emitter.js'
import { clientNetwork } from '../http/client-network.js'
import { addressOf } from '../http/origin.js'
import { sendRefusal } from '../http/refuse.js'
import { hasToClose } from '../http/send-response.js'
import { createSessionFinder } from '../sessions/find-session.js'
import { forRequest, isVerifiedToken, mayHaveSession, type VerifiedToken } from '../tokens/verified-token.js'
import { readToken, type SourceSettings } from './bearer-header.js'
import { type RefusalSettings, refusalAt } from './refuse.js'
import {
  type FindSessionOf,
  limitHostCalls,
  requireAccount,
  requireAllowed,
  requireOwner,
  requireRecentSignIn,
  requireScopes,
  requireSecondFactor,
  requireSession,
  requireUnexpired,
  requireUnrevoked,
  requireVerified,
  type StepSettings,
  verifyNew,
} from './steps.js'

/**
 * The options of a guard, each named by the step that reads it. The table of options must have exactly these, so an option without a step
 * does not compile.
 */
export interface GuardSettings extends SourceSettings, StepSettings, RefusalSettings {}

/** A guard: of the middleware, or of the Passport strategy. */
export interface Guard {
  readonly settings: GuardSettings
  readonly emit: Emit
  /** True when the host has something to say about a verified token. */
  readonly asksHost: boolean
  /** Finds the session of a token, where the guard has a store. */
  readonly findSession: FindSessionOf | undefined
}

/** A request as the guard uses it. Every request of Express and of Node's servers fits. */
export interface GuardedRequest extends IncomingMessage {
  /** The client's address, for events (`req.ip`: mind `trust proxy`). */
  ip?: string | undefined
  /** The verified token. An earlier value is removed. */
  auth?: unknown
  /** The account of the token, where `accounts` is given. The user of a session stays only if its `id` is the token's account. */
  user?: unknown
}

/** A request at a guard. */
export interface GuardContext<R extends IncomingMessage = IncomingMessage> {
  readonly guard: Guard
  readonly req: R
  /** The client's address, read before the first wait. Most requests do not wait. */
  address: string | undefined
}

/** The result of the steps for an admitted request. Without `auth`, the request has no token, or an invalid one at a lenient guard. */
export interface Admission {
  readonly auth?: VerifiedToken
  /** The object for `req.user`, where `accounts` is given. */
  readonly user?: object | undefined
}

export function createGuard(settings: GuardSettings): Guard {
  const { tokens, isRevoked, store, accounts, timeout, onEvent } = settings
  const emit = emitter(onEvent)
  const find = store && createSessionFinder({ store, timeout, emit })
  const findSession = find && ((auth: VerifiedToken) => find(auth, tokens.ofToken(auth).now()))
  return { settings, emit, asksHost: [isRevoked, store, accounts].some(Boolean), findSession }
}

export function contextOf<R extends IncomingMessage>(guard: Guard, req: R): GuardContext<R> {
  return { guard, req, address: undefined }
}

/** Express's `next`. */
type Next = (error?: unknown) => void

/** Guards a request of the middleware: takes the steps, then admits the request to the route, or refuses it. */
export async function guardRequest(
  context: GuardContext<GuardedRequest>,
  res: ServerResponse,
  next: Next,
): Promise<void> {
  const { req } = context
  // A listener that is already attached would take the body before the route does.
  const isFlowing = req.readableFlowing === true
  if (isFlowing) req.pause()
  try {
    admit(req, await checkBearer(context))
    keepPrivate(res)
  } catch (thrown) {
    refuse(context, thrown, res, next)
    return
  } finally {
    if (isFlowing) req.resume()
  }
  next()
}

/**
 * Takes the steps of a guarded request: header → token → what the token allows → what the host says about it.
 * @throws AuthError for a refusal
 */
export async function checkBearer(context: GuardContext): Promise<Admission> {
  const { guard, req } = context
  const { settings, asksHost } = guard
  try {
    const text = readToken(settings, req)
    if (text === undefined) return admitWithoutToken(settings)
    const cached = settings.tokens.cached(text)
    // Before the first wait, because a stream of HTTP/2 that has ended does not know its address any more.
    if (!cached || asksHost) context.address = addressOf(req)
    const auth = cached ?? (await verifyNew(settings, clientNetwork(context.address), text))
    requireVerified(auth)
    requireScopes(settings, auth)
    requireOwner(settings, auth)
    requireRecentSignIn(settings, auth)
    requireSecondFactor(settings, auth)
    if (!asksHost) return { auth }
    return await askHost(context, auth)
  } catch (thrown) {
    return forgive(context, thrown)
  }
}

/**
 * Takes the steps that call the host, each only with its option. A slow function of the host holds up a limited number of requests.
 * @returns the token with the scopes that its account still has and the data of its session, and the user: as far as the host looks them up
 * @throws AuthError `invalid_token`, `forbidden`, `overloaded`, or `unavailable` when a function of the host fails
 */
function askHost({ guard, req, address }: GuardContext, auth: VerifiedToken): Promise<Admission> {
  const { settings, findSession } = guard
  const { isRevoked, accounts, allow, timeout } = settings
  return limitHostCalls(clientNetwork(address), async () => {
    if (isRevoked) await requireUnrevoked(isRevoked, auth, timeout)
    const session = findSession && mayHaveSession(auth) ? await requireSession(settings, findSession, auth) : undefined
    const found = accounts && (await requireAccount(accounts, auth, timeout))
    const now = forRequest(auth, { scopes: found && (found.account.scopes ?? []), session: session?.data })
    if (found && allow) await requireAllowed(allow, req, found.user, now, timeout)
    requireUnexpired(settings, auth)
    requireScopes(settings, now)
    return { auth: now, user: found?.user }
  })
}

/** Admits a request without a token at an optional guard. */
function admitWithoutToken({ optional, scheme, tokenFrom }: GuardSettings): Admission {
  if (optional) return {}
  throw new AuthError('missing_token', { message: missingToken(tokenFrom ? undefined : scheme.name) })
}

/** Admits a request with an invalid token as one without a token, at a lenient guard. Reports the refusal. */
function forgive(context: GuardContext, thrown: unknown): Admission {
  const { optional } = context.guard.settings
  if (optional !== 'lenient' || !isAuthError(thrown) || thrown.code !== 'invalid_token') throw thrown
  refusalAt(context, thrown)
  return {}
}

/** Sends the refusal, or passes the host's error on. */
function refuse(context: GuardContext<GuardedRequest>, thrown: unknown, res: ServerResponse, next: Next): void {
  const { guard, req } = context
  try {
    forgetEarlier(req)
    sendRefusal(guard.settings, refusalAt(context, thrown), req, res, next, hasToClose(req))
  } catch (cause) {
    // The host may have replaced functions of the response, or members of the request. Their errors belong to its error handler.
    next(cause)
  }
}

/** Sets `req.auth` and `req.user`. */
export function admit(req: GuardedRequest, { auth, user }: Admission): VerifiedToken | undefined {
  if (auth) req.auth = auth
  else forgetEarlier(req)
  if (user) req.user = user
  else if (auth && req.user !== undefined && !isUserOf(auth.accountId, req.user)) req.user = undefined
  return auth
}

/** Removes what an earlier guard has set. The user of a session stays. */
export function forgetEarlier(req: GuardedRequest): void {
  const { auth } = req
  if (auth !== undefined) req.auth = undefined
  if (isVerifiedToken(auth) && isUserOf(auth.accountId, req.user)) req.user = undefined
}

/**
 * Keeps the response out of shared caches and lets browsers ask again, unless the host decides otherwise: `express.static` would make it
 * public. Also without a token, because a cache that stored such a response would send it to users.
 */
export function keepPrivate(res: ServerResponse): void {
  // Not `hasHeader`, which the responses of Engine.IO lack.
  if (!res.headersSent && res.getHeader('Cache-Control') === undefined) res.setHeader('Cache-Control', REVALIDATED)
}
