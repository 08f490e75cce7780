import { resultOrUndefined } from '../options/values.js'
import { AuthError, copyOf, isAuthError } from './auth-error.js'
import { type AuthErrorCode, REFUSALS, type Refusal } from './codes.js'
import { challengeOf, type HeaderFacts, NO_STORE, safeHeaders } from './headers.js'

/** Returns the row of a refusal in the table of codes. A `SignInRefusal` has none. */
export const rowOf = ({ code }: AuthError): Refusal | undefined => (REFUSALS as Readonly<Record<string, Refusal>>)[code]

/** The refusals that an endpoint or the guard gives. */
export interface Refusals {
  readonly codes: ReadonlySet<AuthErrorCode>
  /** Also each `SignInRefusal` of the host. */
  readonly ofHost?: boolean
  /** The kind of their events. `'failures'`: only a failure of a dependency has an event. */
  readonly events: 'token' | 'bearer' | 'failures'
}

/**
 * Returns the refusal of a request, with all headers of the response. It is a copy, because a function of the host may throw one error for
 * several requests. Any other error becomes a `503`, with the error as the cause: the observer receives it, the client does not.
 * @param given the refusals that the endpoint or the guard gives. Another one is a fault of this package
 * @param facts the facts of the guard that refuses
 */
export function refusalOf(given: Omit<Refusals, 'events'>, thrown: unknown, facts?: HeaderFacts): AuthError {
  const isKnown = isAuthError(thrown) && (rowOf(thrown) ? has(given, thrown) : given.ofHost === true)
  // A getter of the host may throw.
  const refusal = isKnown ? resultOrUndefined(() => sendable(thrown, facts)) : undefined
  return refusal ?? sendable(new AuthError('unavailable', { dependency: 'internal', cause: thrown }), facts)
}

/** Returns whether a refusal with a code of this package is one of those. */
export const has = ({ codes }: Omit<Refusals, 'events'>, { code }: AuthError) => codes.has(code as AuthErrorCode)

function sendable(error: AuthError, facts: HeaderFacts | undefined): AuthError {
  const { status = error.status } = rowOf(error) ?? {}
  const [sent, challenge] = [safeHeaders(error), challengeOf(error, facts)]
  // Without a guard, the challenge is the one of the guard that has refused before.
  const headers = facts ? { ...sent, ...challenge } : { ...challenge, ...sent }
  return copyOf(error, { status, statusCode: status, headers: { ...headers, ...NO_STORE } })
}
