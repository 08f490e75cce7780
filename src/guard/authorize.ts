import { hasBrand } from '../options/brand.js'
import { own } from '../options/values.js'
import { AuthError } from '../refusals/auth-error.js'
import { factsOf, mayBeRefreshed, type VerifiedToken } from '../tokens/verified-token.js'
import type { Verifiers } from '../tokens/verifiers.js'

/** The options that these steps read. */
export interface AuthorizeSettings {
  readonly tokens: Verifiers
  readonly optional: boolean
  readonly scope: readonly string[]
  readonly anyScope: readonly string[] | undefined
  readonly signedInWithin: number | undefined
}

/** The most that the clock of a custom verifier may be ahead, in milliseconds: as much as the largest `clockTolerance`. */
const MOST_AHEAD = 60_000

/** Refuses a request without a token, unless the guard is optional. */
export function assertOptional({ optional }: AuthorizeSettings): void {
  if (!optional) throw new AuthError('missing_token')
}

export function requireVerified(auth: VerifiedToken): void {
  if (!hasBrand('VerifiedToken', auth)) throw new TypeError('requireBearer: only a verified token is admitted')
}

/** Refuses a token without the scopes. */
export function requireScopes({ scope, anyScope }: AuthorizeSettings, auth: VerifiedToken): void {
  const { scopes } = auth
  if (!scope.every((required) => scopes.includes(required))) {
    throw new AuthError('insufficient_scope', { scope, ...factsOf(auth) })
  }
  if (anyScope && !anyScope.some((enough) => scopes.includes(enough))) {
    throw new AuthError('insufficient_scope', { scope: anyScope, ...factsOf(auth) })
  }
}

/** Refuses a token of an old sign-in. */
export function requireRecentSignIn({ tokens, signedInWithin }: AuthorizeSettings, auth: VerifiedToken): void {
  if (signedInWithin === undefined) return
  if (isRecent(signInOf(auth), signedInWithin, tokens.ofToken(auth).now())) return
  const maxAge = Math.floor(signedInWithin / 1000)
  throw new AuthError('insufficient_user_authentication', { maxAge, ...factsOf(auth) })
}

/**
 * Returns the time of the sign-in. `auth_time` (RFC 9470 section 6) stays when an identity provider refreshes a token. NaN for an
 * `auth_time` that is not a number, and for a provider's token without it.
 */
function signInOf(auth: VerifiedToken): number {
  const time = own(auth.claims, 'auth_time') ?? (mayBeRefreshed(auth) ? undefined : Number.POSITIVE_INFINITY)
  return Math.min(typeof time === 'number' ? time * 1000 : Number.NaN, auth.issuedAt.getTime())
}

/** Returns whether a time is at most `span` ago. A time that is not a number, or far in the future, is not. */
function isRecent(time: number, span: number, now: number): boolean {
  return now - time <= span && time - now <= MOST_AHEAD
}
