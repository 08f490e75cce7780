import { AuthError } from '../../shared/errors.js'
import { misuse } from '../../shared/misuse.js'
import { type Check, func, InvalidOption, named, optional, readOptions, withMethods } from '../../shared/options.js'
import type { LimitName } from '../../shared/refusals.js'
import { memberOf } from '../../shared/values.js'
import { type Attempt, createAttempts, type Spent } from './attempt.js'
import { type Budget, budgetOption, createLimit, type Limit } from './limit.js'
import { type Limiter, type LimiterOptions, type Size, sharedLimit } from './shared-limit.js'
import { sharedStore } from './shared-store.js'
import { type Spraying, sprayingOption, sprayLimit } from './spraying.js'

/**
 * The failed-login limits. `false` disables a limit.
 * @inline
 */
interface Budgets {
  /** One account from one address (an IPv6 address counts by its /64). Default 10 in 15 minutes. */
  pair?: Budget | false | undefined
  /** One address, for all accounts. Default 100 in an hour. */
  address?: Budget | false | undefined
  /** One account, from all addresses. Default 100 in an hour. */
  account?: Budget | false | undefined
}

/** The options of `createThrottle`. */
export interface ThrottleOptions {
  /**
   * Shares the limits between processes: `(options) => new RateLimiterRedis({ ...options, storeClient })`. While the store fails or
   * hangs, the limits continue in this process's memory. Default: only in memory.
   */
  limiter?: ((options: LimiterOptions) => Limiter) | undefined
  /** The failed-login limits. Each has its own default, and `false` disables a limit. */
  budgets?: Budgets | undefined
  /**
   * Limits guesses of one password at many accounts from many addresses. `true` sets the defaults. The page
   * docs/explanation/password-spraying.md says what the limit does and what a leak of the store reveals. Default false.
   */
  spraying?: Spraying | boolean | undefined
}

/** Failed-login limits, from `createThrottle` or from the host. */
export interface Throttle {
  /**
   * Refuses a client whose address has reached its limit, before the body of the request is read. Counts nothing.
   * @throws AuthError `too_many_attempts`
   */
  checkAddress?(address: string | undefined): void
  /**
   * Refuses a login whose limit is known to be reached, before the login waits in the queue. Counts nothing.
   * @throws AuthError `too_many_attempts`
   */
  check?(email: string, address: string | undefined, passwordDigest?: string): void
  /** Returns a keyed digest of the password, as received, for the other methods. Only a throttle with this method sees passwords. */
  digestPassword?: ((password: string) => string) | undefined
  /**
   * Creates the attempt of a login, which has not begun. Without this method, `spend` is called before the password is checked.
   * @param storeFailed called with the error when the login continues without the shared store
   * @param passwordDigest the result of `digestPassword`, if the throttle has that method
   */
  attempt?(
    email: string,
    address: string | undefined,
    storeFailed: (error: unknown) => void,
    passwordDigest?: string,
  ): Attempt
  /**
   * Counts an attempt against every limit, before a password is checked. Call `failed` or `giveBack` of the result once.
   * @param storeFailed called with the error when the login continues without the shared store
   * @param passwordDigest the result of `digestPassword`, if the throttle has that method
   * @throws AuthError `too_many_attempts`, or `overloaded` when attempts under way leave no room; the attempt is then not counted
   */
  spend(
    email: string,
    address: string | undefined,
    storeFailed: (error: unknown) => void,
    passwordDigest?: string,
  ): Promise<Spent>
}

const caller = 'createThrottle'

function budget(name: string, fallback: Size) {
  const size = budgetOption(`${caller}: option "budgets.${name}"`, '{ points, duration } or false')
  const check: Check<Size | false> = (value) => value !== false && size(value)
  return optional(check, fallback)
}

const HOUR = 3600

/** The limits, in the order of their precedence. When several limits are reached, the first one is named and tells how long to wait. */
const budgetsSchema = {
  address: budget('address', { points: 100, duration: HOUR }),
  pair: budget('pair', { points: 10, duration: HOUR / 4 }),
  account: budget('account', { points: 100, duration: HOUR }),
}

const budgetAliases = { ip: 'address', email: 'account', user: 'account', password: 'spraying' }

const schema = {
  limiter: optional(func<(options: LimiterOptions) => Limiter>('a function (options) => limiter')),
  budgets: (value: unknown) =>
    readOptions<Budgets, typeof budgetsSchema>(
      `${caller}: option "budgets"`,
      value as Budgets,
      budgetsSchema,
      budgetAliases,
    ),
  spraying: sprayingOption,
}

/**
 * Creates failed-login limits (OWASP ASVS 5, 6.3.1). Share one object between all token routers of a process, because two objects
 * would allow twice the guesses.
 * @throws TypeError that names the invalid option
 */
export function createThrottle(options?: ThrottleOptions): Required<Throttle> {
  const read = readOptions<ThrottleOptions, typeof schema>(caller, options, schema, { store: 'limiter' })
  const { limiter: factory, budgets, spraying } = read
  if (factory && spraying && spraying.key === undefined) {
    throw misuse(`${caller}: option "spraying" needs a "key" with "limiter", because all processes need the same key`)
  }
  const store = sharedStore()
  function limit(name: LimitName, prefix: string, size: Size, mostKeys?: number): Limit {
    const options = { keyPrefix: `login-${prefix}`, ...size }
    const limiter = factory && named(`${caller}: what "limiter" returned`, limiterCheck, factory({ ...options }))
    return createLimit(name, size, limiter && sharedLimit(limiter, store, size), mostKeys)
  }
  const limits = (Object.keys(budgetsSchema) as (keyof Budgets)[]).flatMap((name) => {
    const size = budgets[name]
    return size ? [limit(name, name, size)] : []
  })
  const spray = spraying && sprayLimit(spraying, (...one) => limit('spraying', ...one))
  const { checkAddress, attempt } = createAttempts(limits, spray)

  return {
    // An own property, so that no polluted prototype receives passwords.
    digestPassword: spray?.digest,
    checkAddress,
    check: (email, address, digest) => attempt(email, address, () => {}, digest).check(),
    attempt,
    async spend(...login) {
      const one = attempt(...login)
      if (!one.begin()) throw new AuthError('overloaded')
      await one.count?.()
      return one
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
  const get = memberOf(limiter, 'get')
  if (get === undefined || typeof get === 'function') return limiter
  throw new InvalidOption('a limiter whose "get" is a function, or missing')
}
