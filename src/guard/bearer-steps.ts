import type { Account } from '../accounts/account.js'
import { AuthError, isAuthError } from '../errors/auth-error.js'
import { missingToken } from '../errors/codes.js'
import { type Emit, emitter } from '../events/emitter.js'
import { type LazyOrigin, sourceIn } from '../http/origin.js'
import { hasBrand } from '../options/brand.js'
import { isThenable } from '../options/values.js'
import { factsOf, signInOf, type VerifiedToken } from '../tokens/verified-token.js'
import type { Verifiers } from '../tokens/verifiers.js'
import { askHost, type HostSettings } from './ask-host.js'
import { type RefusalSettings, refusalOf } from './refuse.js'
import { readToken, type SourceSettings } from './token-source.js'
import { assertNotExpired, limitHostCalls, type VerifySettings, verifyBearer } from './verify-bearer.js'

/** The options that the steps of this file read. */
interface AuthorizeSettings {
  readonly tokens: Verifiers
  readonly optional: boolean | 'lenient'
  readonly scope: readonly string[]
  readonly anyScope: readonly string[] | undefined
  readonly signedInWithin: number | undefined
}

/**
 * The options of a guard, each named by the step that reads it. The table of options must have exactly these, so an option without a step
 * does not compile.
 */
export interface GuardSettings
  extends SourceSettings,
    VerifySettings,
    AuthorizeSettings,
    HostSettings,
    RefusalSettings {}

/** A guard: of the middleware, or of the Passport strategy. */
export interface Guard {
  readonly settings: GuardSettings
  readonly emit: Emit
  /** True when the host has something to say about a verified token. */
  readonly asksHost: boolean
}

/** A request at a guard. */
export interface GuardContext extends LazyOrigin {
  readonly guard: Guard
  /** The verified token, after all steps. Undefined on an optional guard without a token. */
  auth: VerifiedToken | undefined
  /** The account without its password hash, where `accounts` is given. */
  user: object | undefined
}

/** @throws TypeError when the sessions are not for the tokens of an issuer that the guard accepts */
export function createGuard(caller: string, settings: GuardSettings): Guard {
  settings.sessions?.useFor(settings.tokens.issuers, caller)
  const { isRevoked, sessions, accounts, onEvent } = settings
  return { settings, emit: emitter(onEvent), asksHost: [isRevoked, sessions, accounts].some(Boolean) }
}

export function contextOf(guard: Guard, req: LazyOrigin['req']): GuardContext {
  return { guard, req, address: undefined, source: undefined, auth: undefined, user: undefined }
}

/**
 * Runs the guard's steps for one request. Returns undefined when they are done: for a cached token of a guard that does not ask the host,
 * and for most new tokens. Otherwise returns a promise.
 * @throws AuthError for a refusal, also as a rejection
 */
export function checkBearer(context: GuardContext): Promise<void> | undefined {
  if (context.guard.settings.optional !== 'lenient') return checkToken(context)
  try {
    return checkToken(context)?.catch((thrown) => forgive(context, thrown))
  } catch (thrown) {
    forgive(context, thrown)
    return undefined
  }
}

/** Admits a request with an invalid token as one without a token, and reports the refusal. */
function forgive(context: GuardContext, thrown: unknown): void {
  if (!isAuthError(thrown) || thrown.code !== 'invalid_token') throw thrown
  refusalOf(context.guard.emit, context, thrown)
}

function checkToken(context: GuardContext): Promise<void> | undefined {
  const { settings } = context.guard
  const text = readToken(settings, context.req)
  if (text === undefined) {
    assertOptional(settings)
    return undefined
  }
  const auth = settings.tokens.fromCache(text) ?? verifyBearer(settings, context, text)
  return isThenable(auth) ? checkLater(context, auth) : checkVerified(context, auth)
}

async function checkLater(context: GuardContext, verified: Promise<VerifiedToken>): Promise<void> {
  await checkVerified(context, await verified)
}

/** Runs the steps that follow the verification. */
function checkVerified(context: GuardContext, auth: VerifiedToken): Promise<void> | undefined {
  const { settings, asksHost } = context.guard
  requireVerified(auth)
  requireScopes(settings, auth, auth.scopes)
  requireRecentSignIn(settings, auth)
  if (asksHost) return checkByHost(context, auth)
  context.auth = auth
  return undefined
}

async function checkByHost(context: GuardContext, auth: VerifiedToken): Promise<void> {
  const { settings } = context.guard
  const found = await limitHostCalls(sourceIn(context), () => askHost(settings, auth, context.req))
  assertNotExpired(settings.tokens, auth)
  if (found) requireScopes(settings, auth, scopesNow(auth, found.account))
  context.auth = auth
  context.user = found?.user
}

/** The most that the clock of a custom verifier may be ahead, in milliseconds: as much as the largest `clockTolerance`. */
const MOST_AHEAD = 60_000

/** Refuses a request without a token, unless the guard is optional. */
function assertOptional({ optional, scheme, tokenFrom }: AuthorizeSettings & SourceSettings): void {
  if (optional) return
  throw new AuthError('missing_token', { message: missingToken(tokenFrom ? undefined : scheme.name) })
}

function requireVerified(auth: VerifiedToken): void {
  if (!hasBrand('VerifiedToken', auth)) throw new TypeError('requireBearer: only a verified token is admitted')
}

/** Refuses a token without the scopes. */
function requireScopes(
  { scope, anyScope }: AuthorizeSettings,
  auth: VerifiedToken,
  scopes: VerifiedToken['scopes'],
): void {
  if (!scope.every((required) => scopes.includes(required))) {
    throw new AuthError('insufficient_scope', { scope, ...factsOf(auth) })
  }
  if (anyScope && !anyScope.some((enough) => scopes.includes(enough))) {
    throw new AuthError('insufficient_scope', { scope: anyScope, ...factsOf(auth) })
  }
}

/** Returns the scopes of a token that its account still has. */
const scopesNow = (auth: VerifiedToken, { scopes }: Account) => auth.scopes.filter((scope) => scopes?.includes(scope))

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
