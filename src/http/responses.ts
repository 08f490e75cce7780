import type { AuthError } from '../errors/auth-error.js'
import type { Part } from '../errors/codes.js'
import { type CallRefusal, problemIn, rowOf } from '../errors/refusal.js'
import { isSignInRefusal } from '../errors/sign-in-refusal.js'
import { bare, own } from '../options/values.js'

/*
 * The responses. The routers and the guard send them, and the OpenAPI document describes them from the same tables.
 */

/**
 * The default paths of the endpoints, and their methods. Those of sessions are below a mount point. The paths of refresh and of its sign-out
 * are below the one of the token endpoint.
 */
export const ENDPOINTS = {
  token: { path: '/api/v2013/authentication/token', methods: ['POST'] },
  refresh: { path: '/refresh', methods: ['POST'] },
  tokenSignOut: { path: '/sign-out', methods: ['POST'] },
  keys: { path: '/.well-known/jwks.json', methods: ['GET', 'HEAD'] },
  sessions: { path: '/', methods: ['GET', 'HEAD', 'DELETE'] },
  session: { path: '/{id}', methods: ['DELETE'] },
  signOut: { path: '/sign-out', methods: ['POST'] },
} as const satisfies Partial<Record<Part, { path: string; methods: readonly string[] }>>

/**
 * The place where a client keeps its refresh token. `'cookie'`, for pages: a cookie that no script can read. `'body'`, for mobile apps and
 * scripts: the client stores it, and the response has the member `refreshToken`.
 */
export type RefreshMode = 'cookie' | 'body'

/**
 * The name of the cookie. Browsers accept the prefix only with `Secure` (RFC 6265bis section 4.1.3.1). Not `__Host-`, which would send the
 * cookie with every request of the host.
 */
export const REFRESH_COOKIE = '__Secure-refresh'

export const REQUEST_TYPES = ['application/json', 'application/x-www-form-urlencoded'] as const

export type RequestType = (typeof REQUEST_TYPES)[number]

export type HeaderName = 'Allow' | 'Cache-Control' | 'Content-Type' | 'Pragma' | 'Retry-After' | 'WWW-Authenticate'

export interface HttpResponse {
  status: number
  headers: Readonly<Partial<Record<HeaderName, string>>>
  body: string
}

/** Keeps every response about a token or a password out of caches (RFC 6749 section 5.1). */
export const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }

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

export const doneResponse = (): HttpResponse => ({ status: 204, headers: NO_STORE, body: '' })

/** Five minutes: half of the default `maxAge` of `remoteKeys`. */
const MAX_AGE_SECONDS = 300

const PUBLIC = { 'Cache-Control': `public, max-age=${MAX_AGE_SECONDS}` }

/** Returns the response with a JWK set (RFC 7517 section 8.5.2). */
export function keysResponse(body: string): HttpResponse {
  return { status: 200, headers: { ...PUBLIC, 'Content-Type': 'application/jwk-set+json' }, body }
}

interface ChallengeFacts {
  realm: string
  /** The authentication scheme. Default `Bearer`. */
  scheme?: { readonly name: string } | undefined
}

const NO_REALM: ChallengeFacts = { realm: '' }

function refusalHeaders(part: Part, error: CallRefusal, facts: ChallengeFacts): HttpResponse['headers'] {
  const ofHost = isSignInRefusal(error) ? error.headers : {}
  return { ...ofHost, ...NO_STORE, ...retryAfter(error), ...allowed(part, error.code), ...challenge(error, facts) }
}

/** The characters that Node sends in a header (RFC 9110 section 5.5). */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]+$/

/** Returns a header of a refusal, if Node can send it. The refusal may be the host's, with any headers. */
export function headerIn({ headers }: CallRefusal, name: HeaderName | 'Connection'): string | undefined {
  const value: unknown = own(Object(headers) as AuthError['headers'], name)
  return typeof value === 'string' && HEADER_VALUE.test(value) ? value : undefined
}

function retryAfter(error: CallRefusal): HttpResponse['headers'] {
  const seconds = headerIn(error, 'Retry-After')
  return seconds && /^\d+$/.test(seconds) ? { 'Retry-After': seconds } : {}
}

/**
 * Returns all headers of the response for a refusal, for a host that responds itself.
 * @param closes whether the connection has to close after the response
 */
export function allHeaders(part: Part, error: CallRefusal, closes: boolean, facts = NO_REALM): AuthError['headers'] {
  return { ...refusalHeaders(part, error, facts), ...(closes && { Connection: 'close' }) }
}

/** Returns the response for a refusal: problem details (RFC 9457), or an empty body for invalid credentials, as specified. */
export function refusalResponse(part: Part, error: CallRefusal, facts = NO_REALM): HttpResponse {
  const { status, empty } = rowOf(error)
  const headers = refusalHeaders(part, error, facts)
  if (empty) return { status, headers, body: '' }
  const body = JSON.stringify(problemIn(error))
  return { status, headers: { ...headers, 'Content-Type': 'application/problem+json' }, body }
}

function allowed(part: Part, code: string): HttpResponse['headers'] {
  return part === 'guard' || code !== 'method_not_allowed' ? {} : { Allow: ENDPOINTS[part].methods.join(', ') }
}

/** The challenge of a refusal (RFC 6750 section 3, RFC 9110 section 11.6.1, RFC 9470 section 3). */
function challenge(refusal: CallRefusal, { realm, scheme }: ChallengeFacts): HttpResponse['headers'] {
  const { code, message } = refusal
  const error = rowOf(refusal).challenge
  if (error === undefined) return {}
  const { scope: required, maxAge: longest } = bare(refusal as AuthError)
  const scope = code === 'insufficient_scope' && required
  const maxAge = code === 'insufficient_user_authentication' ? longest : undefined
  const parameters = {
    realm,
    ...(error && { error, error_description: message }),
    ...(scope && { scope: [scope].flat().join(' ') }),
    ...(maxAge !== undefined && { max_age: maxAge }),
  }
  const list = Object.entries(parameters).map(([name, value]) => `${name}=${quoted(value)}`)
  return { 'WWW-Authenticate': `${scheme?.name ?? 'Bearer'} ${list.join(', ')}` }
}

/**
 * Returns a quoted string (RFC 9110 section 5.6.4). A space replaces what a challenge cannot hold: the message of a refusal may be from
 * the host's verifier.
 */
function quoted(value: unknown): string {
  return `"${String(value)
    .replace(/[^\x20-\x7e]/g, ' ')
    .replace(/["\\]/g, '\\$&')}"`
}
