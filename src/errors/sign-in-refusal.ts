import { brand, hasBrand } from '../options/brand.js'
import { bool, HTTP_TOKEN, integer, text } from '../options/checks.js'
import { misuse } from '../options/misuse.js'
import { checkThat, optional, readOptions } from '../options/read-options.js'
import { attempt, isPlainObject, memberOf } from '../options/values.js'
import { type Problem, problemWith } from './auth-error.js'
import { REFUSALS } from './codes.js'

/** The options of a `SignInRefusal`. */
export interface SignInRefusalOptions {
  /** The status of the response, from 400 to 499. Default 403. */
  status?: number | undefined
  /** The problem's `detail` (RFC 9457), an explanation for people. The client receives it. Default: a general sentence. */
  detail?: string | undefined
  /** Further headers of the response, for example `Retry-After`. Default none. */
  headers?: Readonly<Record<string, string>> | undefined
  /** Counts a failed login, as a wrong password does. Set it for a wrong code, which nobody may guess. Default false. */
  countAsFailure?: boolean | undefined
  /** The error that led to the refusal, for logs. Never sent to the client. Default none. */
  cause?: unknown
}

/** Headers that a refusal may not set: those of the body, of the connection and of cookies. */
const OWN_HEADERS = /^(cache-control|connection|content-.*|pragma|set-cookie|transfer-encoding|www-authenticate)$/i
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

const headersOption = checkThat<Readonly<Record<string, string>>>(
  "an object of header lines, like { 'Retry-After': '60' }, without those of the body",
  (value) =>
    isPlainObject(value) &&
    Object.entries(value).every(
      ([name, line]) =>
        HTTP_TOKEN.test(name) && !OWN_HEADERS.test(name) && typeof line === 'string' && HEADER_VALUE.test(line),
    ),
)

const schema = {
  status: optional(integer(400, 499, 'a status'), 403),
  detail: optional(text('a non-empty string'), 'The sign-in was refused.'),
  headers: optional(headersOption),
  countAsFailure: optional(bool, false),
  cause: (value: unknown) => value,
}

const CODE = /^[\w.:/-]{1,64}$/

/**
 * The refusal of a sign-in after a right password: a code of a second factor, an address that must be verified, terms that must be accepted.
 * Throw it in `beforeSignIn`. The client receives problem details with your code (RFC 9457).
 *
 * `authErrors()` sends it like an `AuthError`, whose codes are a closed set.
 */
export class SignInRefusal extends Error {
  /** Always `'SignInRefusal'`. Use it where `instanceof` does not work, for example with two copies of the package. */
  override readonly name = 'SignInRefusal'
  /** The code, which the client receives. */
  readonly code: string
  /** The HTTP status of the response. */
  readonly status: number
  /** Same as `status`, for Nest, Fastify and others that read this name. */
  readonly statusCode: number
  /** Further headers of the response. */
  readonly headers: Readonly<Record<string, string>>
  /** True when the refusal counts as a failed login. */
  readonly countAsFailure: boolean
  /** The account that the refusal is about. Set when the login ends. Never sent to the client. */
  declare readonly accountId?: string

  /**
   * Creates a refusal.
   * @param code your code, for example `code_required`: letters, digits and `_ . : / -`, at most 64
   * @throws TypeError naming the option that is not valid, and for a code of `AuthError`
   */
  constructor(code: string, options?: SignInRefusalOptions) {
    const read = readOptions<SignInRefusalOptions, typeof schema>('SignInRefusal', options, schema)
    const { status, detail, headers, countAsFailure, cause } = read
    if (typeof code !== 'string' || !CODE.test(code)) {
      throw misuse('SignInRefusal: the code must be a text like "code_required", of at most 64 characters')
    }
    if (Object.hasOwn(REFUSALS, code)) {
      throw misuse(`SignInRefusal: "${code}" is a code of AuthError. Choose another code`)
    }
    super(detail, cause === undefined ? undefined : { cause })
    this.code = code
    this.status = status
    this.statusCode = status
    this.headers = { ...headers }
    this.countAsFailure = countAsFailure
    brand('SignInRefusal', this)
  }

  /** Returns the body of the response (RFC 9457). */
  toProblem(): Problem<string> {
    return problemWith(this.status, this.code, this.message)
  }

  /** Returns the problem document, so that `res.json(error)` shows a client nothing else. */
  toJSON(): Problem<string> {
    return this.toProblem()
  }
}

/** Returns whether a value is a `SignInRefusal`, also of another copy of the package. */
export const isSignInRefusal = (value: unknown): value is SignInRefusal =>
  attempt(() => hasBrand('SignInRefusal', value)) === true

/** Returns a copy of a refusal with other members. The refusal itself may belong to several requests. */
export function copyOfRefusal(
  refusal: SignInRefusal,
  members: { accountId?: string; headers?: SignInRefusal['headers']; cause?: undefined },
): SignInRefusal {
  const { code, status, message: detail, countAsFailure, cause, accountId, headers, stack } = refusal
  const copy = new SignInRefusal(code, { status, detail, countAsFailure, cause })
  passedOn.set(copy, passedOn.get(refusal))
  return Object.assign(copy, { headers, stack, accountId, ...members })
}

/** The errors of the host that its own error handler receives. */
const passedOn = new WeakMap<SignInRefusal, unknown>()

/** Returns the refusal for an error of a function of the host that a client may see: the habit of http-errors. */
export function refusalOfHost(thrown: unknown): SignInRefusal | undefined {
  if (isSignInRefusal(thrown)) return thrown
  const given = Object(thrown)
  const [status, isExposed] = [memberOf(given, 'status') ?? memberOf(given, 'statusCode'), memberOf(given, 'expose')]
  if (isExposed !== true || !Number.isInteger(status) || Number(status) < 400 || Number(status) > 499) return undefined
  const refusal = new SignInRefusal('sign_in_refused', { status: Number(status) })
  passedOn.set(refusal, thrown)
  return refusal
}

/** Returns the host's own error of a refusal, which goes to the host's error handler. Undefined for a refusal of `beforeSignIn`. */
export const hostErrorOf = (refusal: unknown): unknown => passedOn.get(refusal as SignInRefusal)
