import type { IncomingMessage } from 'node:http'
import { callHost } from '../concurrency/host-call.js'
import { limitTasks } from '../concurrency/limit.js'
import { createTurnQueue } from '../concurrency/turn-queue.js'
import { AuthError, isAuthError } from '../errors/auth-error.js'
import { missingToken } from '../errors/codes.js'
import { type Emit, emitter } from '../events/emitter.js'
import { clientNetwork } from '../http/client-network.js'
import { addressOf } from '../http/origin.js'
import { GUARDED_REQUESTS } from '../http/request-limits.js'
import { hasBrand } from '../options/brand.js'
import { createSessionFinder } from '../sessions/find-session.js'
import { factsOf, invalidToken, isActing, signInOf, type VerifiedToken } from '../tokens/verified-token.js'
import type { Verifiers } from '../tokens/verifiers.js'
import { type Admission, askHost, type FindSessionOf, type HostSettings } from './ask-host.js'
import { assertB64Token, readToken, type SourceSettings } from './bearer-header.js'
import { type RefusalSettings, refusalAt } from './refuse.js'

/** The options that the steps of this file read. */
interface AuthorizeSettings {
  readonly tokens: Verifiers
  readonly optional: boolean | 'lenient'
  readonly scope: readonly string[]
  readonly anyScope: readonly string[] | undefined
  readonly signedInWithin: number | undefined
  readonly acting: boolean
}

/**
 * The options of a guard, each named by the step that reads it. The table of options must have exactly these, so an option without a step
 * does not compile.
 */
export interface GuardSettings extends SourceSettings, AuthorizeSettings, HostSettings, RefusalSettings {}

/** A guard: of the middleware, or of the Passport strategy. */
export interface Guard {
  readonly settings: GuardSettings
  readonly emit: Emit
  /** True when the host has something to say about a verified token. */
  readonly asksHost: boolean
  /** Finds the session of a token, where the guard has a store. */
  readonly findSession: FindSessionOf | undefined
}

/** A request at a guard. */
export interface GuardContext<R extends IncomingMessage = IncomingMessage> {
  readonly guard: Guard
  readonly req: R
  /** The client's address, read before the first wait. Most requests do not wait. */
  address: string | undefined
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

/**
 * Runs the guard's steps for one request.
 * @throws AuthError for a refusal
 */
export function checkBearer(context: GuardContext): Promise<Admission> {
  const checked = checkToken(context)
  return context.guard.settings.optional === 'lenient' ? checked.catch((thrown) => forgive(context, thrown)) : checked
}

async function checkToken(context: GuardContext): Promise<Admission> {
  const { guard, req } = context
  const { settings, asksHost, findSession } = guard
  const text = readToken(settings, req)
  if (text === undefined) return admitWithoutToken(settings)
  const cached = settings.tokens.cached(text)
  if (cached && !asksHost) return { auth: authorized(settings, cached) }
  // Before the first wait, because a stream of HTTP/2 that has ended does not know its address any more.
  context.address = addressOf(req)
  const network = clientNetwork(context.address)
  const auth = authorized(settings, cached ?? (await verifyNew(settings, network, text)))
  if (!asksHost) return { auth }
  const admission = await limitHostCalls(network, () => askHost(settings, findSession, auth, req))
  requireUnexpired(settings, auth)
  requireScopes(settings, admission.auth)
  return admission
}

/** Requires what a guard demands of a token itself. */
function authorized(settings: AuthorizeSettings, auth: VerifiedToken): VerifiedToken {
  requireVerified(auth)
  requireScopes(settings, auth)
  requireOwner(settings, auth)
  requireRecentSignIn(settings, auth)
  return auth
}

/** Admits a request with an invalid token as one without a token, and reports the refusal. */
function forgive(context: GuardContext, thrown: unknown): Admission {
  if (!isAuthError(thrown) || thrown.code !== 'invalid_token') throw thrown
  refusalAt(context.guard, context, thrown)
  return {}
}

/** Admits a request without a token at an optional guard. */
function admitWithoutToken({ optional, scheme, tokenFrom }: AuthorizeSettings & SourceSettings): Admission {
  if (optional) return {}
  throw new AuthError('missing_token', { message: missingToken(tokenFrom ? undefined : scheme.name) })
}

/** Requests with a token that is not cached wait here, so that a flood of forged tokens does not delay the app's other requests. */
const waitForTurn = createTurnQueue(GUARDED_REQUESTS)

/** Limits the requests that wait for the key source, the revocation check, the sessions and the account store. */
const limitHostCalls = limitTasks(GUARDED_REQUESTS)

/** Verifies a token that is not cached, after the turns of earlier requests. */
async function verifyNew({ tokens, timeout }: AuthorizeSettings & HostSettings, network: string, text: string) {
  assertB64Token(text)
  await waitForTurn(network)
  return tokens.verify(text, (issuer, call) =>
    limitHostCalls(network, () =>
      callHost('keys', call, { timeout, passThrough: ['invalid_token', 'unavailable'], about: { issuer } }),
    ),
  )
}

/** The most that the clock of a custom verifier may be ahead, in milliseconds: as much as the largest `clockTolerance`. */
const MOST_AHEAD = 60_000

function requireVerified(auth: VerifiedToken): void {
  if (!hasBrand('VerifiedToken', auth)) throw new TypeError('requireBearer: only a verified token is admitted')
}

/** Refuses a token without the scopes. */
function requireScopes({ scope, anyScope }: AuthorizeSettings, auth: VerifiedToken): void {
  const { scopes } = auth
  if (!scope.every((required) => scopes.includes(required))) {
    throw new AuthError('insufficient_scope', { scope, ...factsOf(auth) })
  }
  if (anyScope && !anyScope.some((enough) => scopes.includes(enough))) {
    throw new AuthError('insufficient_scope', { scope: anyScope, ...factsOf(auth) })
  }
}

/** Refuses a token that has expired while the host's functions took their time. */
function requireUnexpired({ tokens }: AuthorizeSettings, auth: VerifiedToken): void {
  const { now, tolerance } = tokens.ofToken(auth)
  if (!(now() < auth.expiresAt.getTime() + tolerance)) throw invalidToken('expired', auth)
}

/** Refuses an administrator who acts as the account. */
function requireOwner({ acting }: AuthorizeSettings, auth: VerifiedToken): void {
  if (!acting && isActing(auth)) throw new AuthError('forbidden', factsOf(auth))
}

/** Refuses a token of an old sign-in. */
function requireRecentSignIn({ tokens, signedInWithin }: AuthorizeSettings, auth: VerifiedToken): void {
  if (signedInWithin === undefined) return
  if (isRecent(signInOf(auth), signedInWithin, tokens.ofToken(auth).now())) return
  const maxAge = Math.floor(signedInWithin / 1000)
  throw new AuthError('insufficient_user_authentication', { maxAge, ...factsOf(auth) })
}

/** Returns whether a time is at most `span` ago. A time that is not a number, or far in the future, is not. */
function isRecent(time: number, span: number, now: number): boolean {
  return now - time <= span && time - now <= MOST_AHEAD
}
