import { brand, hasBrand } from './brand.js'
import { bare, own } from './values.js'

/**
 * Every way in which this package refuses a request or a token. A closed set; the README's section "Errors" has the cause and the
 * fix of each.
 * @useDeclaredType
 */
export type AuthErrorCode = keyof typeof ROWS

/**
 * Why a bearer token was refused. For the host's logs; the client is told only whether the token had expired. The README's section
 * "Errors" has the cause and the fix of each.
 */
export type TokenRefusal =
  | 'malformed'
  | 'algorithm'
  | 'type'
  | 'critical_header'
  | 'unknown_key'
  | 'signature'
  | 'claims'
  | 'issuer'
  | 'audience'
  | 'not_yet_valid'
  | 'expired'
  | 'revoked'
  | 'unknown_account'
  | 'account_disabled'
  | 'superseded'

/** Why a login was refused. For the host's logs; the client cannot tell one from another. */
export type LoginRefusal = 'unknown_account' | 'account_disabled' | 'no_password' | 'wrong_password'

/** What this package asks of its host, and what can therefore fail; `internal` is what nobody has foreseen. */
export type Dependency = 'accounts' | 'passwords' | 'revocation' | 'keys' | 'throttle' | 'internal'

/** The parts of this package that answer requests: the token call, the guard, the public keys. */
export type Part = 'token' | 'guard' | 'keys'

/** All that is to be known of a refusal: to throw it, to send it, and to promise it in the OpenAPI document. */
export interface Refusal {
  status: number
  /** For the client: the problem's `detail`. */
  message: string
  /** Who answers with it; nobody else does. */
  by: readonly [Part, ...Part[]]
  /** Seconds after which a client may try again, sent as `Retry-After`, unless whoever refuses knows better. */
  retryAfter?: number
  /** The error code of its challenge (RFC 6750 section 3.1); null for a challenge without one. */
  challenge?: string | null
  /** Its answer has no body. */
  empty?: true
  /** Nobody is there any more to get the answer. */
  unseen?: true
}

/** A row for each code: without one a code does not compile. */
const ROWS = {
  method_not_allowed: {
    status: 405,
    by: ['token', 'keys'],
    message: 'The Allow header names the methods that can be used here.',
  },
  unsupported_media_type: {
    status: 415,
    by: ['token'],
    message:
      'Send the credentials as application/json or application/x-www-form-urlencoded, in UTF-8, with no content coding.',
  },
  body_too_large: { status: 413, by: ['token'], message: 'The request body is too large.' },
  invalid_body: {
    status: 400,
    by: ['token'],
    message: 'The request body must hold "email" and "password", each once and each a string.',
  },
  invalid_credentials: {
    status: 403,
    by: ['token'],
    empty: true,
    message: 'The e-mail address or the password is wrong.',
  },
  client_closed_request: {
    status: 499,
    by: ['token'],
    unseen: true,
    message: 'The client closed the connection before its answer.',
  },
  too_many_attempts: { status: 429, by: ['token'], message: 'Too many failed logins. Try again later.' },
  overloaded: {
    status: 503,
    by: ['token', 'guard'],
    retryAfter: 1,
    message: 'Too many requests are waiting. Try again in a moment.',
  },
  missing_token: {
    status: 401,
    by: ['guard'],
    challenge: null,
    message: 'This resource needs a token. Send it as Authorization: Bearer <token>.',
  },
  invalid_request: {
    status: 400,
    by: ['guard'],
    challenge: 'invalid_request',
    message: 'Send one bearer token, in one Authorization header and nowhere else.',
  },
  invalid_token: {
    status: 401,
    by: ['guard'],
    challenge: 'invalid_token',
    message: 'The access token is not valid.',
  },
  insufficient_scope: {
    status: 403,
    by: ['guard'],
    challenge: 'insufficient_scope',
    message: 'The access token does not carry the scope that this resource needs.',
  },
  unavailable: {
    status: 503,
    by: ['token', 'guard'],
    retryAfter: 5,
    message: 'The service cannot tell right now. Try again later.',
  },
} as const satisfies Record<string, Refusal>

/** A row for every code. */
export const REFUSALS: Readonly<Record<AuthErrorCode, Refusal>> = bare(ROWS)

// An absent member must not be read from a polluted Object.prototype.
for (const row of Object.values(REFUSALS)) Object.setPrototypeOf(row, null)

const EXPIRED = 'The access token expired.'

/**
 * What there is to tell of a refusal, besides its code.
 * @inline
 */
export interface AuthErrorDetails {
  reason?: TokenRefusal | LoginRefusal
  accountId?: string
  tokenId?: string
  scope?: readonly string[]
  dependency?: Dependency
  retryAfter?: number
  cause?: unknown
}

/**
 * A refusal: what `verify` rejects with, and what the host's error handler is given under `forwardErrors`.
 *
 * Holds no token, no password and no secret. `cause` is the host's own error, when one of its callbacks failed.
 */
export class AuthError extends Error {
  /** `'AuthError'`, for where `instanceof` does not reach. */
  override readonly name = 'AuthError'
  /** Which refusal this is; one of a closed set. */
  readonly code: AuthErrorCode
  /** The HTTP status of the response. */
  readonly status: number
  /** The same number as `status`, under the name that Nest, Fastify and others read. */
  readonly statusCode: number
  /** Why a token or a login was refused. Meant for logs; never sent to the client. */
  declare readonly reason?: TokenRefusal | LoginRefusal
  /** The account that the refusal is about, where one is known. Never sent to the client. */
  declare readonly accountId?: string
  /** The `jti` of the refused token, where its signature was good. Never sent to the client. */
  declare readonly tokenId?: string
  /** The scopes that would have been needed (`insufficient_scope`). */
  declare readonly scope?: readonly string[]
  /** Which of the host's parts failed (`unavailable`). */
  declare readonly dependency?: Dependency
  /** Response headers (`Retry-After`, in seconds, where there is a time); Express's own error handler sends them too. */
  readonly headers: Readonly<Record<string, string>>

  /**
   * For a verifier of the host's own, whose `verify` may reject with `invalid_token` or `unavailable`.
   * @param details what is known of the refusal; `retryAfter` in seconds
   */
  constructor(code: AuthErrorCode, details: AuthErrorDetails = {}) {
    const refusal = REFUSALS[code]
    const { cause: _, retryAfter: __, ...rest } = details
    const cause = own(details, 'cause')
    const retryAfter = own(details, 'retryAfter') ?? refusal.retryAfter
    super(rest.reason === 'expired' ? EXPIRED : refusal.message, cause === undefined ? undefined : { cause })
    this.code = code
    this.status = refusal.status
    this.statusCode = refusal.status
    this.headers = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }
    Object.assign(this, rest)
    brand('AuthError', this)
  }
}

/** Returns whether a value is an `AuthError` with a code that this copy of the package knows. */
export function isAuthError(value: unknown): value is AuthError {
  return hasBrand('AuthError', value) && Object.hasOwn(REFUSALS, (value as AuthError).code)
}
