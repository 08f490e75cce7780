import type { ServerResponse } from 'node:http'
import type { Account, LookUpResult } from '../accounts/account.js'
import { throwLater } from '../concurrency/throw-later.js'
import { assertHeaderLines } from '../http/header-lines.js'
import { misuse, PAGE } from '../options/misuse.js'
import { isVerifiedToken, type PrivateClaims, type VerifiedToken } from '../tokens/verified-token.js'
import {
  admit,
  checkBearer,
  contextOf,
  createGuard,
  forgetEarlier,
  type GuardedRequest,
  type GuardSettings,
  guardRequest,
} from './guard.js'
import { rejectionAt } from './refuse.js'
import { type RequireBearerOptions, readRequireBearerOptions } from './require-bearer-options.js'

/**
 * A middleware that keeps the types of the route's parameters, unlike `RequestHandler`. `authenticate` returns an `Auth`: a verified token,
 * and for an optional guard `VerifiedToken | undefined`.
 */
export interface BearerGuard<Auth = VerifiedToken> {
  (req: GuardedRequest, res: ServerResponse, next: Next): void
  /**
   * Authenticates a request as the middleware does, without a response: for `upgrade` handlers, GraphQL contexts and frameworks other than
   * Express. Sets `req.auth` and, where `accounts` is given, `req.user`.
   * @returns the verified token, or undefined on an optional guard without a token
   * @throws the error that `refuse` passes to `next`, or an AuthError with `status`, `headers` (also the challenge) and `toProblem()`; TypeError for a
   * request that is not Node's
   */
  authenticate(req: GuardedRequest): Promise<Auth>
}

/** @inline */
type Next = (error?: unknown) => void

/**
 * Creates the guard: a middleware that admits a request with a valid bearer token (RFC 6750) and sets `req.auth` to the verified
 * token.
 * @throws TypeError naming the option that is not valid
 */
export function requireBearer<A extends LookUpResult = Account>(
  options: RequireBearerOptions<A> & { optional?: false | undefined },
): BearerGuard
export function requireBearer<A extends LookUpResult = Account>(
  options: RequireBearerOptions<A>,
): BearerGuard<VerifiedToken | undefined>
export function requireBearer(options: RequireBearerOptions): BearerGuard<VerifiedToken | undefined> {
  return requireBearerFor('requireBearer', options)
}

/** Creates the guard of a function, which its errors name. */
export const requireBearerFor = (caller: 'requireBearer' | 'auth.guard', options: RequireBearerOptions) =>
  bearerGuardOf(readRequireBearerOptions(caller, options))

/** Returns the guard with settings that are read. */
export function bearerGuardOf(settings: GuardSettings) {
  const guard = createGuard(settings)

  function requireBearerMiddleware(req: GuardedRequest, res: ServerResponse, next: Next): void {
    assertHeaderLines('requireBearer', req)
    // Express 4 does not catch a rejection. Only an error of the host's `next` rejects here.
    guardRequest(contextOf(guard, req), res, next).catch(throwLater)
  }

  async function authenticate(req: GuardedRequest): Promise<VerifiedToken | undefined> {
    assertHeaderLines('authenticate', req)
    const context = contextOf(guard, req)
    const admission = await checkBearer(context).catch((thrown) => {
      forgetEarlier(req)
      throw rejectionAt(context, thrown)
    })
    return admit(req, admission)
  }

  return Object.assign(requireBearerMiddleware, { authenticate })
}

/** A request after a guard, of Express or of another framework. All members but `auth` are for the message of an error. */
export interface AuthenticatedRequest {
  /** The verified token, which the guard has set. */
  auth?: unknown
  /** The method. */
  method?: string | undefined
  /** The mount path of Express's router. */
  baseUrl?: string
  /** The path below the mount path. */
  path?: string
  /** The target of the request. Its query never appears in an error. */
  url?: string | undefined
}

/**
 * Returns the verified token of a guarded request, `req.auth`.
 * The type `C` of its private claims is not checked: `claimsOf` does that.
 * @throws TypeError naming the route when no guard has admitted the request, so the result is never undefined
 */
export function authOf<C = PrivateClaims>(req: AuthenticatedRequest): VerifiedToken<C> {
  if (isVerifiedToken(req.auth)) return req.auth as VerifiedToken<C>
  // The query of the URL may hold secrets.
  const route = `${req.method} ${req.baseUrl ?? ''}${req.path ?? req.url?.replace(/\?.*/s, '')}`
  throw misuse(
    `authOf: ${route} has no verified token. Put auth.guard() or requireBearer() before it, or read req.auth if the guard is optional`,
    PAGE.guard,
  )
}
