import { type AuthError, problemOf } from '../errors/auth-error.js'
import { NO_STORE } from '../errors/headers.js'
import { rowOf } from '../errors/refusal.js'

/*
 * The responses. The routers and the guard send them, and the OpenAPI document describes them from the same tables.
 */

/**
 * The place where a client keeps its refresh token. `'cookie'`, for pages: a cookie that no script can read. `'body'`, for mobile apps and
 * scripts: the client stores it, and the response has the member `refreshToken`.
 */
export type RefreshMode = 'cookie' | 'body'

export const REQUEST_TYPES = ['application/json', 'application/x-www-form-urlencoded'] as const

export type RequestType = (typeof REQUEST_TYPES)[number]

export type HeaderName =
  | 'Accept'
  | 'Allow'
  | 'Cache-Control'
  | 'Content-Type'
  | 'Pragma'
  | 'Retry-After'
  | 'WWW-Authenticate'

export interface HttpResponse {
  status: number
  headers: Readonly<Partial<Record<HeaderName, string>>>
  body: string
  /** Express adds an `ETag`, and sends `304` for a current one. Default false. */
  hasTag?: true
}

/** Returns the body of the token call: exactly two members. `expiration` is the token's `exp`. */
export const tokenResult = (token: string, expiresAt: Date) => ({
  authenticationToken: token,
  expiration: expiresAt.toISOString(),
})

/** Returns the text of the token call's response. */
export const tokenText = ({ token, expiresAt }: { token: string; expiresAt: Date }): string =>
  JSON.stringify(tokenResult(token, expiresAt))

/** Returns a response with JSON that no cache may store: a token, or a list of sessions. */
export function jsonResponse(body: string): HttpResponse {
  const headers = { ...NO_STORE, 'Content-Type': 'application/json; charset=utf-8' }
  return { status: 200, headers, body }
}

/** Returns the response to a request whose work begins later (RFC 9110 section 15.3.3). */
export const acceptedResponse = (): HttpResponse => ({ status: 202, headers: NO_STORE, body: '' })

export const doneResponse = (): HttpResponse => ({ status: 204, headers: NO_STORE, body: '' })

/** Five minutes: half of the default `maxAge` of `remoteKeys`. */
const MAX_AGE_SECONDS = 300

const PUBLIC = { 'Cache-Control': `public, max-age=${MAX_AGE_SECONDS}` }

/** Returns the response with a JWK set (RFC 7517 section 8.5.2). */
export function keysResponse(body: string): HttpResponse {
  return { status: 200, headers: { ...PUBLIC, 'Content-Type': 'application/jwk-set+json' }, body, hasTag: true }
}

/**
 * Returns the response for a refusal: problem details (RFC 9457), or an empty body for invalid credentials, as specified.
 * @param isProblem true for an endpoint whose refusals all are problems. Default: false
 */
export function refusalResponse(error: AuthError, isProblem = false): HttpResponse {
  const { status, headers } = error
  if (rowOf(error)?.empty && !isProblem) return { status, headers, body: '' }
  const body = JSON.stringify(problemOf(error))
  return { status, headers: { ...headers, 'Content-Type': 'application/problem+json' }, body }
}
