import { withDeadline } from '../concurrency/host-call.js'
import { AuthError } from '../errors/auth-error.js'
import type { LimitName } from '../errors/codes.js'
import { func, withMethods } from '../options/checks.js'
import { misuse, withoutSecrets } from '../options/misuse.js'
import { aliasesOf, type Check, InvalidOption, named, optional, readOptions } from '../options/read-options.js'
import { memberOf } from '../options/values.js'
import { LONGEST_EMAIL } from './account-key.js'
import { type Attempt, createAttempts } from './attempt.js'
import { createLimit, type Limit, type LoginLimit, limitOption } from './limit.js'
import { type Limiter, type LimiterOptions, type Size, sharedLimit } from './shared-limit.js'
import { sharedStore } from './shared-store.js'
import { type Spraying, sprayingOption, sprayLimit } from './spraying.js'

/**
 * The failed-login limits. `false` disables a limit.
 * @inline
 */
interface LoginLimits {
  /** One account from one address (an IPv6 address counts by its /64). Default 10 in 15 minutes. */
  pair?: LoginLimit | false | undefined
  /** One address, for all accounts. Default 100 in an hour. */
  address?: LoginLimit | false | undefined
  /** One account, from all addresses. Default 100 in an hour. */
  account?: LoginLimit | false | undefined
}

/** The options of `createThrottle`. */
export interface ThrottleOptions {
  /**
   * Shares the limits between processes: `(options) => new RateLimiterRedis({ ...options, storeClient })`. While the store fails or
   * hangs, the limits continue in this process's memory. Default: only in memory.
   */
  limiter?: ((options: LimiterOptions) => Limiter) | undefined
  /** The failed-login limits. Each has its own default, and `false` disables a limit. */
  limits?: LoginLimits | undefined
  /**
   * Limits guesses of one password at many accounts from many addresses. `true` sets the defaults. The page
   * docs/evidence/password-spraying.md says what the limit does and what a leak of the store reveals. Default false.
   */
  spraying?: Spraying | boolean | undefined
}

/** Failed-login limits, as `createThrottle` returns them. */
export interface Throttle {
  /**
   * Refuses a client whose address has reached its limit, before the body of the request is read. Counts nothing.
   * @throws AuthError `too_many_attempts`, or `overloaded` when the client's network has disconnected during too many logins
   */
  checkAddress(address: string | undefined): void | Promise<void>
  /** Returns a keyed digest of the password, as received, for the other methods. Undefined for limits that need no password. */
  readonly digestPassword: ((password: string) => string | Promise<string>) | undefined
  /**
   * Creates the attempt of a login, which has not begun.
   * @param storeFailed called with the error when the login continues without the shared store
   * @param passwordDigest the result of `digestPassword`, if the throttle has that method
   */
  attempt(
    email: string,
    address: string | undefined,
    storeFailed: (error: unknown) => void,
    passwordDigest?: string,
  ): Attempt
  /**
   * Counts an attempt against every limit, before a custom route checks a password or a code. Call `end` of the result once.
   * @param storeFailed called with the error when the login continues without the shared store
   * @param passwordDigest the result of `digestPassword`, if the throttle has that method
   * @throws AuthError `too_many_attempts`, or `overloaded` when attempts under way leave no room; the attempt is then not counted
   */
  consume(
    email: string,
    address: string | undefined,
    storeFailed: (error: unknown) => void,
    passwordDigest?: string,
  ): Promise<Attempt>
  /**
   * Lifts the limits of an account from all addresses, for example after a password reset. Limits of an address stay. Attempts under way
   * stay too, and count if they fail.
   * @param email the e-mail address, or another name that the account signs in with, in any spelling that counts as the same account
   * @throws TypeError when no account can have the address, or when the limiter has no `delete` or no `get`
   * @throws Error with a `cause` when the shared store fails: this process has lifted the limits, but other processes may still refuse
   */
  reset(email: string): Promise<void>
}

const caller = 'createThrottle'

/** The time limit of a reset. It is longer than that of a login, because no login waits for it. */
const RESET_MS = 5000

const STORE_FAILED =
  'throttle.reset: the shared store failed, so other processes may still refuse this account. Call reset again when the store works.'

function sizeOf(name: string, fallback: Size) {
  const size = limitOption(`${caller}: option "limits.${name}"`, '{ points, duration } or false')
  const check: Check<Size | false> = (value) => value !== false && size(value)
  return optional(check, fallback)
}

const HOUR = 3600

/** The limits, in the order of their precedence. When several limits are reached, the first one is named and tells how long to wait. */
const limitsSchema = {
  address: sizeOf('address', { points: 100, duration: HOUR }),
  pair: sizeOf('pair', { points: 10, duration: HOUR / 4 }),
  account: sizeOf('account', { points: 100, duration: HOUR }),
}

const LIMITS = `${caller}: option "limits"`
const limitAliases = { ip: 'address', email: 'account', user: 'account', password: 'spraying' }

const schema = {
  limiter: optional(func<(options: LimiterOptions) => Limiter>('a function (options) => limiter')),
  limits: (value: unknown) =>
    readOptions<LoginLimits, typeof limitsSchema>(LIMITS, value as LoginLimits, limitsSchema, limitAliases),
  spraying: sprayingOption,
}

const aliases = {
  ...aliasesOf({
    limiter: 'store',
    limits: 'pair address account',
    "Pass limits: { pair: { points: 10, duration: '15m' } }": 'points duration max maxAttempts windowMs',
  }),
  // The name of the option before 1.0.
  budgets: 'limits',
  budget: 'limits',
}

/**
 * Creates failed-login limits (OWASP ASVS 5, 6.3.1). Share one object between all token routers of a process, because two objects
 * would allow twice the guesses.
 * @throws TypeError that names the invalid option
 */
export function createThrottle(options?: ThrottleOptions): Throttle {
  const read = readOptions<ThrottleOptions, typeof schema>(caller, options, schema, aliases)
  const { limiter: factory, limits: sizes, spraying } = read
  if (factory && spraying && spraying.key === undefined) {
    throw misuse(
      `${caller}: option "spraying" needs a "key" with "limiter", because all processes need the same one. Pass spraying: { key }`,
    )
  }
  const store = sharedStore()
  function limit(name: LimitName, prefix: string, size: Size, mostKeys?: number): Limit {
    const options = { keyPrefix: `login-${prefix}`, ...size }
    const limiter = factory && named(`${caller}: what "limiter" returned`, limiterCheck, factory({ ...options }))
    return createLimit(name, size, limiter && sharedLimit(limiter, store, size), mostKeys)
  }
  const limits = (Object.keys(limitsSchema) as (keyof LoginLimits)[]).flatMap((name) => {
    const size = sizes[name]
    return size ? [limit(name, name, size)] : []
  })
  const spray = spraying && sprayLimit(spraying, (...one) => limit('spraying', ...one))
  const { checkAddress, attempt, reset } = createAttempts(limits, spray)

  return {
    // An own property, so that no polluted prototype receives passwords.
    digestPassword: spray?.digest,
    checkAddress,
    attempt,
    async consume(...login) {
      const one = attempt(...login)
      await one.check()
      if (!one.begin()) throw new AuthError('overloaded')
      await one.count()
      return one
    },
    async reset(email) {
      if (typeof email !== 'string' || email === '' || email.length > LONGEST_EMAIL) {
        throw misuse(`throttle.reset: pass the e-mail address of an account, at most ${LONGEST_EMAIL} characters`)
      }
      if (limits.some(({ shared }) => shared?.canReset === false)) {
        throw misuse(
          'throttle.reset: pass a "limiter" with "get" and "delete", as every limiter of rate-limiter-flexible',
        )
      }
      try {
        await withDeadline(RESET_MS, reset(email))
      } catch (cause) {
        throw withoutSecrets(new Error(STORE_FAILED, { cause }))
      }
    },
  }
}

const countingLimiter = withMethods<Limiter>(
  'a rate-limiter-flexible limiter',
  ['consume', 'reward'],
  () => 'It has "consume" and "reward"',
)

const limiterCheck: Check<Limiter> = (value) => {
  const limiter = countingLimiter(value)
  for (const name of ['get', 'delete'] as const) {
    const method = memberOf(limiter, name)
    if (method !== undefined && typeof method !== 'function') {
      throw new InvalidOption(`a limiter whose "${name}" is a function, or missing`)
    }
  }
  return limiter
}
