import { bool, HTTP_TOKEN, integer, text } from '../options/checks.js'
import { misuse } from '../options/misuse.js'
import { checkThat, optional, readOptions } from '../options/read-options.js'
import { isPlainObject, memberOf } from '../options/values.js'
import { AuthError, isAuthError } from './auth-error.js'
import { REFUSALS } from './codes.js'
import { NO_STORE } from './headers.js'

/** The options of a `SignInRefusal`. */
export interface SignInRefusalOptions {
  /** Response status, from 400 to 499. Default: `403`. */
  status?: number | undefined
  /** Explanation for the client in the member `detail`. Default: a general sentence. */
  detail?: string | undefined
  /** Additional response headers, such as `Retry-After`. Default: none. */
  headers?: Readonly<Record<string, string>> | undefined
  /** `true` counts the refusal as a failed login. To prevent guessing, set this option for wrong codes. Default: `false`. */
  countAsFailure?: boolean | undefined
  /** Original error, for your logs. Default: none. */
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
 */
export class SignInRefusal extends AuthError {
  /** True when the refusal counts as a failed login. */
  readonly countAsFailure: boolean

  /**
   * Creates a refusal.
   * @param code your code, for example `code_required`: letters, digits and `_ . : / -`, at most 64
   * @throws TypeError naming the option that is not valid, and for a code of `AuthError`
   */
  constructor(code: string, options?: SignInRefusalOptions) {
    const read = readOptions<SignInRefusalOptions, typeof schema>('SignInRefusal', options, schema)
    const { status, detail: message, headers, countAsFailure, cause } = read
    if (typeof code !== 'string' || !CODE.test(code)) {
      throw misuse('SignInRefusal: the code must be a string like "code_required", of at most 64 characters')
    }
    if (Object.hasOwn(REFUSALS, code)) {
      throw misuse(`SignInRefusal: "${code}" is a code of AuthError. Choose a different code`)
    }
    super('forbidden', { message, cause })
    const own = { name: 'SignInRefusal', code, status, statusCode: status, headers: { ...headers, ...NO_STORE } }
    Object.assign(this, own)
    this.countAsFailure = countAsFailure
  }
}

/** Returns whether a value is a `SignInRefusal`, also of another copy of the package. */
export const isSignInRefusal = (value: unknown): value is SignInRefusal =>
  isAuthError(value) && Object.hasOwn(value, 'countAsFailure')

/** The code of the refusal for an error that the host's own error handler receives. */
const OF_HOST = 'sign_in_refused'

/** Returns the refusal for an error of a function of the host that a client may see: the habit of http-errors. */
export function refusalOfHost(thrown: unknown): SignInRefusal | undefined {
  if (isSignInRefusal(thrown)) return thrown
  const status = exposedStatus(thrown)
  return status === undefined ? undefined : new SignInRefusal(OF_HOST, { status, cause: thrown })
}

/** Returns the status of an error that a client may see. */
function exposedStatus(error: unknown): number | undefined {
  const given = Object(error)
  const status = memberOf(given, 'status') ?? memberOf(given, 'statusCode')
  const isExposed = memberOf(given, 'expose') === true && Number.isInteger(status)
  return isExposed && Number(status) >= 400 && Number(status) <= 499 ? Number(status) : undefined
}

/** Returns the host's own error of a refusal, which goes to the host's error handler. */
export const hostErrorOf = ({ code, cause }: AuthError): object | undefined =>
  code === OF_HOST && exposedStatus(cause) !== undefined ? Object(cause) : undefined
