import { STATUS_CODES } from 'node:http'
import { brand, hasBrand } from '../options/brand.js'
import { misuse } from '../options/misuse.js'
import { suggestion } from '../options/suggest.js'
import { bare, own, resultOrUndefined } from '../options/values.js'
import {
  type AuthErrorCode,
  type Dependency,
  type HookOption,
  type HostCode,
  type LimitName,
  type LoginRefusal,
  type PasswordRefusal,
  REFUSALS,
  type RefreshRefusal,
  type Refusal,
  type RefusalStatus,
  type TokenRefusal,
} from './codes.js'
import { challengeOf, type Headers, NO_STORE } from './headers.js'

const EXPIRED = 'The access token expired.'

/**
 * The details of a refusal, in addition to its code.
 * @inline
 */
export interface AuthErrorDetails {
  reason?: TokenRefusal | LoginRefusal | RefreshRefusal | PasswordRefusal
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

/** The names of the statuses (RFC 9110 section 15). A client that has disconnected sees no 499. */
const TITLES: Readonly<Record<number, string>> = bare<Record<Exclude<RefusalStatus, 499>, string>>({
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  503: 'Service Unavailable',
})

/** A problem document: the body of a refusal, as `application/problem+json` (RFC 9457). */
export interface Problem {
  /** Always `about:blank`: the `title` is that of the status. */
  readonly type: string
  /** The name of the status. */
  readonly title: string | undefined
  /** The status of the response. */
  readonly status: number
  /** The code of the refusal. */
  readonly code: AuthErrorCode | HostCode
  /** Tells the client what is wrong. */
  readonly detail: string
  /** The reason for `weak_password`. */
  readonly reason?: PasswordRefusal
}

/**
 * The error for every refusal. `verify` rejects with it, and `refuse` receives it.
 *
 * The error holds no token, password or secret. `cause` is the host's own error when one of the host's callbacks failed.
 */
export class AuthError extends Error {
  /** `'AuthError'`, or `'SignInRefusal'`. Use it where `instanceof` does not work, for example with two copies of the package. */
  override readonly name: string = 'AuthError'
  /** The code of the refusal: one of a closed set, or of a `SignInRefusal` your own. */
  readonly code: AuthErrorCode | HostCode
  /** The HTTP status of the response. */
  readonly status: number
  /** Same as `status`, for Nest, Fastify and others that read this name. */
  readonly statusCode: number
  /** The reason for refusing a token or a login. Use it in logs: it is never sent to the client. */
  declare readonly reason?: TokenRefusal | LoginRefusal | RefreshRefusal | PasswordRefusal
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
   * The headers of the response: those against caches, `Retry-After` in seconds if a time is known, and the challenge in `WWW-Authenticate`,
   * with the realm of the guard that refused. Express's own error handler sends them.
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
    const given: AuthErrorDetails = bare(details)
    const { cause, reason, retryAfter = refusal.retryAfter } = given
    const message = reason === 'expired' ? EXPIRED : refusal.message
    super(given.message ?? message, cause === undefined ? undefined : { cause })
    this.code = code
    this.status = refusal.status
    this.statusCode = refusal.status
    for (const name of DETAILS) if (Object.hasOwn(details, name)) Object.assign(this, { [name]: details[name] })
    const wait: Headers = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }
    const accepted: Headers = refusal.accept === undefined ? {} : { Accept: refusal.accept }
    this.headers = { ...NO_STORE, ...wait, ...accepted, ...challengeOf(this) }
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
export function problemOf({ status, code, message, reason }: AuthError): Problem {
  const { showsReason } = own(REFUSALS, code as AuthErrorCode) ?? bare<Refusal>({} as Refusal)
  const shown = showsReason && reason !== undefined && { reason: reason as PasswordRefusal }
  return { type: 'about:blank', title: TITLES[status] ?? STATUS_CODES[status], status, code, detail: message, ...shown }
}

/** Returns a copy of a refusal with other members. The refusal itself may belong to several requests. */
export function copyOf<E extends AuthError>(
  error: E,
  members: { headers?: Headers; status?: number; statusCode?: number; accountId?: string; cause?: undefined },
): E {
  const cause = Object.hasOwn(members, 'cause') ? undefined : own(error, 'cause')
  const copy = new Error(error.message, cause === undefined ? undefined : { cause }) as E
  Object.setPrototypeOf(copy, Object.getPrototypeOf(error))
  const { cause: _, ...others } = members
  Object.assign(copy, error, others)
  // Not read here, because Node then makes its text.
  Object.defineProperty(copy, 'stack', { configurable: true, get: () => error.stack, set() {} })
  return brand('AuthError', copy)
}

/**
 * Returns whether a value is an `AuthError` or a `SignInRefusal`, also of another copy of the package.
 * @throws never
 */
export function isAuthError(value: unknown): value is AuthError {
  // A proxy or a getter of another value may throw.
  return resultOrUndefined(() => hasBrand('AuthError', value) && hasKnownCode(value as AuthError)) === true
}

/** Returns whether an error has a code of the table, or is a `SignInRefusal`, which no other error has this member of. */
const hasKnownCode = (error: AuthError) => Object.hasOwn(REFUSALS, error.code) || Object.hasOwn(error, 'countAsFailure')
