import { toRequestUser } from '../accounts/request-user.js'
import { isThenable } from '../options/values.js'
import { type Emit, emitter } from '../refusals/events.js'
import { type LazyOrigin, sourceIn } from '../requests/origin.js'
import type { VerifiedToken } from '../tokens/verified-token.js'
import { askHost, type HostSettings } from './ask-host.js'
import {
  type AuthorizeSettings,
  assertOptional,
  requireRecentSignIn,
  requireScopes,
  requireVerified,
} from './authorize.js'
import { readBearer } from './bearer-header.js'
import type { RefusalSettings } from './refuse.js'
import { assertNotExpired, limitHostCalls, type VerifySettings, verifyBearer } from './verify-bearer.js'

/**
 * The options of a guard, each named by the step that reads it. The table of options must have exactly these, so an option without a step
 * does not compile.
 */
export interface GuardSettings extends VerifySettings, AuthorizeSettings, HostSettings, RefusalSettings {}

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
  const { settings } = context.guard
  const text = readBearer(context.req)
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
  requireScopes(settings, auth)
  requireRecentSignIn(settings, auth)
  if (asksHost) return checkByHost(context, auth)
  context.auth = auth
  return undefined
}

async function checkByHost(context: GuardContext, auth: VerifiedToken): Promise<void> {
  const { settings } = context.guard
  const found = await limitHostCalls(sourceIn(context), () => askHost(settings, auth))
  assertNotExpired(settings.tokens, auth)
  context.auth = auth
  context.user = found && toRequestUser(found)
}
