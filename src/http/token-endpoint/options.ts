import { type AccountLookup, type AccountStore, storeOf } from '../../accounts/account.js'
import { createPasswords, type Passwords } from '../../accounts/passwords/passwords.js'
import { createThrottle, type Throttle } from '../../accounts/throttle/throttle.js'
import {
  aliasesOf,
  bool,
  type Check,
  InvalidOption,
  isPlainObject,
  optional,
  readOptions,
  withMethods,
} from '../../shared/options.js'
import type { TokenIssuer } from '../../tokens/tokens.js'
import { bytes } from '../on-first-use.cjs'
import { ENDPOINTS } from '../shared/answers.js'
import { type HostOptions, hostSchema } from '../shared/host-options.js'
import { plainPath } from '../shared/mount-path.js'

/** The options of `tokenRouter`. */
export interface TokenRouterOptions extends HostOptions {
  /** Issues the tokens: the result of `createTokenIssuer`. */
  tokens: TokenIssuer
  /** Finds an account by its e-mail address: a function, or a store. */
  accounts: AccountLookup | AccountStore
  /** The path of the endpoint below the router's mount point, without patterns. Default `/api/v2013/authentication/token`. */
  path?: string | undefined
  /** Checks passwords. Default: `createPasswords()`. */
  passwords?: Passwords | undefined
  /** The failed-login limits. Default: `createThrottle()`, in this process's memory. `false` turns them off. */
  throttle?: Throttle | false | undefined
  /** The longest request body: a number of bytes, or a string like `'10kb'`. Default 10 kB, at most 1 MB. A longer body causes a `413`. */
  bodyLimit?: number | string | undefined
  /**
   * Origins whose pages may send credentials as a form, like `'https://app.example.com'`. Forms of other sites are refused, because any
   * page could send them. JSON needs the host's CORS settings instead. Default none.
   */
  allowedOrigins?: readonly string[] | undefined
  /** Adds the e-mail address, as the client sent it, to the events of logins. It is personal data. Default false. */
  emailInEvents?: boolean | undefined
}

const tokenIssuer = withMethods<TokenIssuer>('what createTokenIssuer() returned', ['issue', 'now'], (value) =>
  isPlainObject(value) && 'verify' in value ? 'A verifier issues no tokens' : '',
)

const accountsOption: Check<AccountStore> = (value) => {
  if (typeof value !== 'function' && !(isPlainObject(value) && typeof value['findByEmail'] === 'function')) {
    throw new InvalidOption('a function (email) => account, or a store with "findByEmail"')
  }
  return storeOf(value as AccountLookup | AccountStore)
}

const PASSWORDS = ['what createPasswords() returned', 'Pass hashers to createPasswords({ hashers: [...] })'] as const
const passwordsObject = withMethods<Passwords>(PASSWORDS[0], ['verify', 'hash'], () => PASSWORDS[1])
const passwordsOption: Check<Passwords> = (value) => {
  const passwords = passwordsObject(value)
  if ('accepts' in passwords) throw new InvalidOption(...PASSWORDS)
  return passwords
}

const throttleObject = withMethods<Throttle>(
  'what createThrottle() returned, or false',
  ['spend'],
  () => 'Pass the object to createThrottle() first',
)
const throttleOption: Check<Throttle | false> = (value) => value !== false && throttleObject(value)

const MAX_BODY = 1_048_576

/** Narrower than bytes().parse(), which reads '10 kilobytes' as ten bytes. */
const BYTE_SIZE = /^\d+(\.\d+)? ?([km]?b)?$/i

const byteSize: Check<number> = (value) => {
  const readable = typeof value === 'number' || (typeof value === 'string' && BYTE_SIZE.test(value))
  const size = readable ? Number(bytes().parse(value as number | string)) : 0
  if (!Number.isInteger(size) || size < 1 || size > MAX_BODY) {
    throw new InvalidOption("a number of bytes or a string like '10kb', from 1 byte to 1 MB")
  }
  return size
}

/** Apps have other schemes, whose origins `URL` does not know. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@]+$/

/** Returns whether a text is an origin as browsers write it (https://html.spec.whatwg.org/#ascii-serialisation-of-an-origin). */
const isOrigin = (text: unknown) =>
  typeof text === 'string' && ORIGIN.test(text) && URL.canParse(text) && [text, 'null'].includes(new URL(text).origin)

const originList: Check<ReadonlySet<string>> = (value) => {
  if (Array.isArray(value) && value.every(isOrigin)) return new Set(value)
  const hint = 'Write them as browsers do: in lower case, without a path and without the default port'
  throw new InvalidOption("an array of origins, like ['https://app.example.com']", hint)
}

const schema = {
  tokens: tokenIssuer,
  accounts: accountsOption,
  path: optional(plainPath, ENDPOINTS.token.path),
  passwords: optional(passwordsOption),
  throttle: optional(throttleOption),
  bodyLimit: optional(byteSize, 10_240),
  allowedOrigins: optional(originList, new Set<string>()),
  emailInEvents: optional(bool, false),
  ...hostSchema,
}

const aliases = aliasesOf({
  tokens: 'issuer tokenIssuer',
  accounts: 'account findAccount findByEmail store users',
  path: 'url',
  passwords: 'hashers',
  throttle: 'limiter rateLimit',
  bodyLimit: 'limit',
  allowedOrigins: 'origins origin cors',
})

/**
 * The options of `LoginStrategy`: those of `tokenRouter` without `path` and `forwardErrors`, because Passport has its own routes and
 * error handling.
 */
export type LoginStrategyOptions = Omit<TokenRouterOptions, 'path' | 'forwardErrors'>

const { path: _, forwardErrors: __, ...strategySchema } = schema

/**
 * Reads the options of `LoginStrategy`.
 * @throws TypeError naming the option that is not valid
 */
export function readLoginOptions(caller: string, options: LoginStrategyOptions) {
  return withDefaults(
    readOptions<LoginStrategyOptions, typeof strategySchema>(caller, options, strategySchema, aliases),
  )
}

export type LoginSettings = ReturnType<typeof readLoginOptions>

/**
 * Reads the options of `tokenRouter`.
 * @throws TypeError naming the option that is not valid
 */
export function readTokenRouterOptions(options: TokenRouterOptions) {
  return withDefaults(readOptions<TokenRouterOptions, typeof schema>('tokenRouter', options, schema, aliases))
}

function withDefaults<T extends { passwords: Passwords | undefined; throttle: Throttle | false | undefined }>(read: T) {
  const { passwords = createPasswords(), throttle = createThrottle() } = read
  return { ...read, passwords, throttle: throttle || undefined }
}
