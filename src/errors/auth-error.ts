import { STATUS_CODES } from 'node:http'
import { brand, hasBrand } from '../options/brand.js'
import { misuse } from '../options/misuse.js'
import { suggestion } from '../options/suggest.js'
import { attempt, bare, own } from '../options/values.js'
import {
  type AuthErrorCode,
  type Dependency,
  type HookOption,
  type LimitName,
  type LoginRefusal,
  type Part,
  REFUSALS,
  type RefreshRefusal,
  type RefusalStatus,
  type TokenRefusal,
} from './codes.js'

const EXPIRED = 'The access token expired.'

/**
 * The details of a refusal, in addition to its code.
 * @inline
 */
export interface AuthErrorDetails {
  reason?: TokenRefusal | LoginRefusal | RefreshRefusal
  accountId?: string
  tokenId?: string
  issuer?: string
  scope?: readonly string[]
  maxAge?: number
  dependency?: Dependency
  option?: HookOption
  limit?: LimitName
  message?: string
  retryAfter?: number
  cause?: unknown
}

/** The details that become members of the error. */
const DETAILS = [
  'reason',
  'accountId',
  'tokenId',
  'issuer',
  'scope',
  'maxAge',
  'dependency',
  'option',
  'limit',
] as const

/** The names of the statuses, as Node 20 has them. A client that has disconnected sees no 499. */
const TITLES: Readonly<Record<number, string>> = bare<Record<Exclude<RefusalStatus, 499>, string>>({
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  413: 'Payload Too Large',
  415: 'Unsupported Media Type',
  429: 'Too Many Requests',
  503: 'Service Unavailable',
})

/** A problem document: the body of a refusal, as `application/problem+json` (RFC 9457). */
export interface Problem<Code extends string = AuthErrorCode> {
  /** Always `about:blank`: the `title` is that of the status. */
  readonly type: string
  /** The name of the status. */
  readonly title: string | undefined
  /** The status of the response. */
  readonly status: number
  /** The code of the refusal. */
  readonly code: Code
  /** Tells the client what is wrong. */
  readonly detail: string
}

/**
 * The error for every refusal. `verify` rejects with it. With `forwardErrors`, the host's error handler receives it.
 *
 * The error holds no token, password or secret. `cause` is the host's own error when one of the host's callbacks failed.
 */
export class AuthError extends Error {
  /** Always `'AuthError'`. Use it where `instanceof` does not work, for example with two copies of the package. */
  override readonly name = 'AuthError'
  /** The code of the refusal, one of a closed set. */
  readonly code: AuthErrorCode
  /** The HTTP status of the response. */
  readonly status: number
  /** Same as `status`, for Nest, Fastify and others that read this name. */
  readonly statusCode: number
  /** The reason for refusing a token or a login. Use it in logs: it is never sent to the client. */
  declare readonly reason?: TokenRefusal | LoginRefusal | RefreshRefusal
  /** The account that the refusal is about, if known. Never sent to the client. */
  declare readonly accountId?: string
  /** The `jti` of the refused token, if its signature is valid. Never sent to the client. */
  declare readonly tokenId?: string
  /** The issuer whose verifier refused the token, or whose keys are unavailable. Never sent to the client. */
  declare readonly issuer?: string
  /** The scopes that the route requires, or of which it requires one (`insufficient_scope`). */
  declare readonly scope?: readonly string[]
  /** The longest time since the sign-in that the route accepts, in seconds (`insufficient_user_authentication`). */
  declare readonly maxAge?: number
  /** The host's dependency that failed (`unavailable`). */
  declare readonly dependency?: Dependency
  /** The option whose function failed, if the dependency is `hook`. */
  declare readonly option?: HookOption
  /** The failed-login limit that is used up (`too_many_attempts`). Never sent to the client. */
  declare readonly limit?: LimitName
  /**
   * Response headers. `Retry-After` in seconds, if a time is known. Errors of `authenticate` and of `forwardErrors: 'all'` have all
   * headers of the response, with the challenge in `WWW-Authenticate`. Express's own error handler sends them.
   */
  readonly headers: Readonly<Record<string, string>>

  /**
   * Creates a refusal. A custom verifier may reject with `invalid_token` or `unavailable`.
   * @param details reason, account and other facts about the refusal; `retryAfter` in seconds
   * @throws TypeError for a code that is not one of the set
   */
  constructor(code: AuthErrorCode, details: AuthErrorDetails = {}) {
    if (!Object.hasOwn(REFUSALS, code)) throw unknownCode(String(code))
    const refusal = REFUSALS[code]
    const cause = own(details, 'cause')
    const retryAfter = own(details, 'retryAfter') ?? refusal.retryAfter
    const message = own(details, 'reason') === 'expired' ? EXPIRED : refusal.message
    super(own(details, 'message') ?? message, cause === undefined ? undefined : { cause })
    this.code = code
    this.status = refusal.status
    this.statusCode = refusal.status
    this.headers = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }
    for (const name of DETAILS) if (Object.hasOwn(details, name)) Object.assign(this, { [name]: details[name] })
    brand('AuthError', this)
  }

  /** Returns the body of the response (RFC 9457). */
  toProblem(): Problem {
    return problemOf(this)
  }

  /** Returns the problem document, so that `res.json(error)` shows a client nothing else. */
  toJSON(): Problem {
    return problemOf(this)
  }
}

function unknownCode(code: string): TypeError {
  const known = suggestion(code, Object.keys(REFUSALS), { known: 'Known codes' })
  return misuse(
    `AuthError: unknown code "${code}". To refuse a sign-in with your own code, throw a SignInRefusal. ${known}`,
  )
}

/** Returns the problem document of a refusal, which may be from another copy of this package. */
export const problemOf = ({ code, message }: AuthError): Problem => problemWith(REFUSALS[code].status, code, message)

export function problemWith<Code extends string>(status: number, code: Code, detail: string): Problem<Code> {
  return { type: 'about:blank', title: own(TITLES, status) ?? STATUS_CODES[status], status, code, detail }
}

/** Returns a copy of a refusal with other response headers. The refusal itself may belong to several requests. */
export function withHeaders(error: AuthError, headers: Readonly<Record<string, string>>): AuthError {
  return copyOf(error, { cause: own(error, 'cause') }, headers)
}

/** Returns a copy of a refusal without its cause. The cause is the host's own error, which may hold any data. */
export function withoutCause(error: AuthError): AuthError {
  return copyOf(error, {}, { ...error.headers })
}

function copyOf(error: AuthError, details: AuthErrorDetails, headers: AuthError['headers']): AuthError {
  const copy = new AuthError(error.code, { ...error, ...details, message: error.message })
  return Object.assign(copy, { headers, stack: error.stack })
}

/** An `AuthError` with one of these codes, and the members that it always has. */
export type AuthErrorOf<C extends AuthErrorCode, Always extends keyof AuthError = never> = C extends unknown
  ? AuthError & Record<'code', C> & Required<Pick<AuthError, Always>>
  : never

/** An `AuthError` that always has `scope` or `maxAge` if its `code` is about them. */
export type AnyAuthError =
  | AuthErrorOf<Exclude<AuthErrorCode, 'insufficient_scope' | 'insufficient_user_authentication'>>
  | AuthErrorOf<'insufficient_scope', 'scope'>
  | AuthErrorOf<'insufficient_user_authentication', 'maxAge'>

/**
 * Returns whether a value is an `AuthError`, also of another copy of the package. After a comparison of its `code`, the compiler knows that
 * `insufficient_scope` has `scope`, and that `insufficient_user_authentication` has `maxAge`. All other details are optional.
 * @throws never
 */
export function isAuthError(value: unknown): value is AnyAuthError {
  // A proxy or a getter of another value may throw.
  return attempt(() => hasBrand('AuthError', value) && Object.hasOwn(REFUSALS, (value as AuthError).code)) === true
}

/**
 * Returns the refusal that was thrown. Any other error becomes a `503`, with the error as the cause: the observer receives it, the
 * client does not.
 */
export function asRefusal(part: Part, thrown: unknown): AuthError {
  if (isAuthError(thrown) && REFUSALS[thrown.code].by.includes(part)) return thrown
  return new AuthError('unavailable', { dependency: 'internal', cause: thrown })
}
