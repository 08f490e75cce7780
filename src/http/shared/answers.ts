import { STATUS_CODES } from 'node:http'
import { type AuthError, type Part, REFUSALS } from '../../shared/errors.js'
import { own } from '../../shared/values.js'

/*
 * What goes over the wire, said once: the routers and the guard send it, and the OpenAPI document is made from it. So nothing
 * here knows Express.
 */

/** Where the endpoints are unless they are put elsewhere, and the methods that they take. */
export const ENDPOINTS = {
  token: { path: '/api/v2013/authentication/token', methods: ['POST'] },
  keys: { path: '/.well-known/jwks.json', methods: ['GET', 'HEAD'] },
} as const satisfies Partial<Record<Part, { path: string; methods: readonly string[] }>>

/** The media types in which credentials are taken. */
export const REQUEST_TYPES = ['application/json', 'application/x-www-form-urlencoded'] as const

export type RequestType = (typeof REQUEST_TYPES)[number]

export type HeaderName = 'Allow' | 'Cache-Control' | 'Content-Type' | 'Pragma' | 'Retry-After' | 'WWW-Authenticate'

export interface Answer {
  status: number
  headers: Readonly<Partial<Record<HeaderName, string>>>
  body: string
}

/** Nothing that has to do with a token or a password is to be kept by a cache (RFC 6749 section 5.1). */
const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }

/** The token call's answer: these two members and no third. `expiration` is the token's own `exp`. */
export function tokenAnswer(token: string, expiresAt: Date): Answer {
  const body = JSON.stringify({ authenticationToken: token, expiration: expiresAt.toISOString() })
  return { status: 200, headers: { ...NO_STORE, 'Content-Type': 'application/json; charset=utf-8' }, body }
}

/** Five minutes: half of the age at which `remoteKeys` lets go of what it was told. */
const MAX_AGE_SECONDS = 300

/** A JWK set (RFC 7517 section 8.5.2). */
export function keysAnswer(body: string): Answer {
  const caching = { 'Cache-Control': `public, max-age=${MAX_AGE_SECONDS}` }
  return { status: 200, headers: { ...caching, 'Content-Type': 'application/jwk-set+json' }, body }
}

/**
 * The answer to a refusal, as problem details (RFC 9457); empty for invalid credentials, as the specification has it.
 * @param realm of the challenge
 */
export function refusalAnswer(part: Part, error: AuthError, realm = ''): Answer {
  const { code, status, message } = error
  const headers = { ...NO_STORE, ...error.headers, ...allowed(part, status), ...challenge(error, realm) }
  if (REFUSALS[code].empty) return { status, headers, body: '' }
  const problem = { type: 'about:blank', title: STATUS_CODES[status], status, code, detail: message }
  return { status, headers: { ...headers, 'Content-Type': 'application/problem+json' }, body: JSON.stringify(problem) }
}

function allowed(part: Part, status: number): Answer['headers'] {
  return part === 'guard' || status !== 405 ? {} : { Allow: ENDPOINTS[part].methods.join(', ') }
}

/** The `WWW-Authenticate` header of a refusal (RFC 6750 section 3, RFC 9110 section 11.6.1), where it takes one. */
function challenge(refusal: AuthError, realm: string): Answer['headers'] {
  const { code, message } = refusal
  const scope = own(refusal, 'scope')
  const error = REFUSALS[code].challenge
  if (error === undefined) return {}
  const parameters = [
    ['realm', realm],
    ...(error
      ? [
          ['error', error],
          ['error_description', message],
        ]
      : []),
    ...(scope ? [['scope', scope.join(' ')]] : []),
  ]
  const quoted = parameters.map(([name, value = '']) => `${name}="${value.replace(/["\\]/g, '\\$&')}"`)
  return { 'WWW-Authenticate': `Bearer ${quoted.join(', ')}` }
}
