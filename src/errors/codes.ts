import { bare } from '../options/values.js'

/**
 * The codes of all refusals of a request or a token, a closed set. The page docs/reference/errors.md has the cause and the fix of
 * each code.
 * @useDeclaredType
 */
export type AuthErrorCode = keyof typeof ROWS

/**
 * A code of the host. The type keeps the codes of this package in an editor's list.
 * @inline
 */
export type HostCode = string & Record<never, never>

/**
 * The reason for refusing a bearer token, for the host's logs. The client learns only whether the token had expired. The page
 * docs/reference/errors.md has the cause and the fix of each reason.
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
  | 'id_token'
  | 'nonce'
  | 'not_yet_valid'
  | 'expired'
  | 'revoked'
  | 'unknown_account'
  | 'account_disabled'
  | 'superseded'

/**
 * The reason for refusing a login, for the host's logs. The client cannot tell the reasons apart. `limited`: guesses with other spellings of
 * the account's address have used up its limits, so the password was not checked.
 */
export type LoginRefusal =
  | 'unknown_account'
  | 'account_disabled'
  | 'no_password'
  | 'wrong_password'
  | 'limited'
  | 'superseded'

/**
 * The reason for refusing a refresh token, for the host's logs. The client cannot tell the reasons apart. `ended`: the session is over, or
 * has expired. `reused`: the token was used before, and the session has ended because of it.
 */
export type RefreshRefusal =
  | 'missing'
  | 'malformed'
  | 'several_cookies'
  | 'ended'
  | 'reused'
  | 'unknown_account'
  | 'account_disabled'
  | 'superseded'

/** The failed-login limit that refused a login. The page docs/reference/options.md describes the limits. */
export type LimitName = 'address' | 'pair' | 'account'

/** The options whose function is called for a request. When it fails, the event names the option. */
export type HookOption = 'allow' | 'beforeSignIn' | 'refresh' | 'respond' | 'sessionLabel' | 'tenant' | 'tokenFrom'

/**
 * The host's dependencies that can fail. `hook` is a function of the host, which `option` names. `internal` is an unforeseen error of this
 * package.
 */
export type Dependency =
  | 'accounts'
  | 'passwords'
  | 'revocation'
  | 'sessions'
  | 'keys'
  | 'limits'
  | 'codes'
  | 'hook'
  | 'internal'

/** Describes a refusal. The error, the response and the OpenAPI document are made from this description. */
export interface Refusal {
  status: number
  /** The problem's `detail`, which the client receives. */
  message: string
  /** Seconds after which a client may try again, sent as `Retry-After`. The `retryAfter` of an error takes precedence. */
  retryAfter?: number
  /** The error code in `WWW-Authenticate` (RFC 6750 section 3.1, RFC 9470 section 3). Null: a challenge without an error code. */
  challenge?: string | null
  /** The media types that the endpoint reads, sent as `Accept` (RFC 9110 section 15.5.16). */
  accept?: string
  /** The response has no body. */
  empty?: true
  /** The client has disconnected, so it receives no response. */
  unseen?: true
}

/**
 * Returns the message of `missing_token`.
 * @param scheme the scheme of the header. Undefined where the header does not hold the token
 */
export function missingToken(scheme: string | undefined): string {
  return `This resource needs a token.${scheme ? ` Send it as Authorization: ${scheme} <token>.` : ''}`
}

const ROWS = {
  method_not_allowed: {
    status: 405,
    message: 'The Allow header names the methods that can be used here.',
  },
  unsupported_media_type: {
    status: 415,
    accept: 'application/json, application/x-www-form-urlencoded',
    message:
      'Send the credentials as application/json or application/x-www-form-urlencoded, in UTF-8, with no content coding.',
  },
  cross_site_request: {
    status: 403,
    message: 'A page of another origin must be among the allowed origins of this endpoint.',
  },
  cross_site_form: {
    status: 415,
    accept: 'application/json',
    message: 'A page of another site must send the credentials as application/json, so that the browser asks first.',
  },
  body_too_large: { status: 413, message: 'The request body is too large.' },
  invalid_body: {
    status: 400,
    message: 'The request body must hold "email" and "password", each once and each a string.',
  },
  invalid_credentials: {
    status: 403,
    empty: true,
    message: 'The e-mail address or the password is wrong.',
  },
  invalid_refresh_token: {
    status: 403,
    empty: true,
    message: 'The refresh token is not valid. Sign in again.',
  },
  client_closed_request: {
    status: 499,
    unseen: true,
    message: 'The client closed the connection before the response.',
  },
  too_many_attempts: { status: 429, message: 'Too many failed logins. Try again later.' },
  overloaded: {
    status: 503,
    retryAfter: 1,
    message: 'Too many requests are waiting. Try again in a moment.',
  },
  missing_token: {
    status: 401,
    challenge: null,
    message: missingToken('Bearer'),
  },
  invalid_request: {
    status: 400,
    challenge: 'invalid_request',
    message: 'Send one bearer token, in one Authorization header and nowhere else.',
  },
  invalid_token: {
    status: 401,
    challenge: 'invalid_token',
    message: 'The access token is not valid.',
  },
  insufficient_user_authentication: {
    status: 401,
    challenge: 'insufficient_user_authentication',
    message: 'This resource needs a more recent sign-in.',
  },
  insufficient_scope: {
    status: 403,
    challenge: 'insufficient_scope',
    message: 'The access token does not carry the scope that this resource needs.',
  },
  forbidden: {
    status: 403,
    message: 'This account may not use this resource.',
  },
  unknown_session: { status: 404, message: 'This account has no such session.' },
  unavailable: {
    status: 503,
    retryAfter: 5,
    message: 'The service cannot check this right now. Try again later.',
  },
} as const satisfies Record<string, Refusal>

/** The statuses of all refusals. */
export type RefusalStatus = (typeof ROWS)[AuthErrorCode]['status']

/** The codes of a status. */
export type CodeAt<S extends RefusalStatus> = {
  [C in AuthErrorCode]: (typeof ROWS)[C]['status'] extends S ? C : never
}[AuthErrorCode]

export const REFUSALS: Readonly<Record<AuthErrorCode, Refusal>> = bare(ROWS)

// An absent member must not be read from a polluted Object.prototype.
for (const row of Object.values(REFUSALS)) Object.setPrototypeOf(row, null)
