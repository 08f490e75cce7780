import { AuthError, type LimitName } from '../../shared/errors.js'
import { misuse } from '../../shared/misuse.js'
import { type Check, func, InvalidOption, named, optional, readOptions, withMethods } from '../../shared/options.js'
import { memberOf } from '../../shared/values.js'
import { type Budget, budgetOption, type Size } from './budget-option.js'
import { type Exhausted, type Limiter, type LimiterOptions, memoryBudget } from './memory-budget.js'
import { sharedBudget, sharedReader, sharedStore } from './shared-budget.js'
import { type SharedLimit, type Spraying, sprayingOption, sprayLimit } from './spraying.js'
import { type BudgetName, throttleKeys } from './throttle-keys.js'

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
   * Refuses a login whose limit is known to be used up, before the login waits in the queue. Counts nothing.
   * @throws AuthError `too_many_attempts`
   */
  check?(email: string, address: string | undefined, passwordDigest?: string): void
  /** Returns a keyed digest of the password, as received, for `check` and `spend`. Only a throttle with this method sees passwords. */
  digestPassword?: ((password: string) => string) | undefined
  /**
   * Counts an attempt against every limit, before a password is checked. `giveBack` takes it back when the login did not fail.
   * @param storeFailed called with the error when the login continues without the shared store
   * @param passwordDigest the result of `digestPassword`, if the throttle has that method
   * @throws AuthError `too_many_attempts`; the attempt is then not counted
   */
  spend(
    email: string,
    address: string | undefined,
    storeFailed: (error: unknown) => void,
    passwordDigest?: string,
  ): Promise<Spent>
}

/**
 * One counted attempt.
 * @inline
 */
export interface Spent {
  /** Takes the attempt back, except from one limit. */
  giveBack(except?: 'address'): void
  /** Called when the login failed, before its response. Counts what a login counts only after its password was wrong. */
  failed?: (() => void | Promise<void>) | undefined
}

function budget(name: string, fallback: Size) {
  const size = budgetOption(`createThrottle: option "budgets.${name}"`, '{ points, duration } or false')
  const check: Check<Size | false> = (value) => value !== false && size(value)
  return optional(check, fallback)
}

const HOUR = 3_600_000

const schema = {
  limiter: optional(func<(options: LimiterOptions) => Limiter>('a function (options) => limiter')),
  budgets: optional((value: unknown) => value),
  spraying: sprayingOption,
}

const budgetsSchema = {
  address: budget('address', { points: 100, duration: HOUR }),
  pair: budget('pair', { points: 10, duration: HOUR / 4 }),
  account: budget('account', { points: 100, duration: HOUR }),
}

/**
 * The order of the limits. An attempt that the limit for its address refuses counts nowhere else. An attempt that the limit for its
 * pair refuses does not count for the account, so the owner can still log in from another address.
 */
const ORDER: readonly BudgetName[] = ['address', 'pair', 'account']

/**
 * The most keys of the limits on spraying. An attacker has more networks than the other limits hold. Failures with a sprayed password
 * come often, so its key is never the least recently used one.
 */
const MOST_SPRAYING_KEYS = { networks: 250_000, passwords: 30_000, guesses: 30_000 }

/**
 * Creates failed-login limits (OWASP ASVS 5, 6.3.1). Share one object between all token routers of a process, because two objects
 * would allow twice the guesses.
 * @throws TypeError that names the invalid option
 */
export function createThrottle(options?: ThrottleOptions): Required<Throttle> {
  const caller = 'createThrottle'
  const {
    limiter: factory,
    budgets,
    spraying,
  } = readOptions<ThrottleOptions, typeof schema>(caller, options, schema, { store: 'limiter' })
  const sizes = readOptions<Budgets, typeof budgetsSchema>(
    `${caller}: option "budgets"`,
    budgets as Budgets | undefined,
    budgetsSchema,
    { ip: 'address', email: 'account', user: 'account', password: 'spraying' },
  )
  if (factory && spraying && spraying.key === undefined) {
    throw misuse(`${caller}: option "spraying" needs a "key" with "limiter", because all processes need the same key`)
  }
  const store = sharedStore()
  // While reads fail, the limits must still count in the store.
  const reading = sharedStore()
  function limit(name: string, { points, duration }: Size, mostKeys?: number): SharedLimit {
    const settings = { keyPrefix: `login-${name}`, points, duration: Math.ceil(duration / 1000) }
    const limiter = factory && named(`${caller}: what "limiter" returned`, limiterCheck, factory({ ...settings }))
    return {
      memory: memoryBudget(settings, mostKeys),
      shared: limiter && sharedBudget(limiter, store, settings),
      read: limiter && sharedReader(limiter, reading, settings),
    }
  }
  const limits = ORDER.flatMap((name) => {
    const size = sizes[name]
    return size ? [{ name, ...limit(name, size) }] : []
  })
  // Memory counts in addition to the shared store: it refuses without a round trip, and continues while the store is down.
  const counters = [
    ...limits.map(({ name, memory }) => ({ name, spend: memory.spend })),
    ...limits.flatMap(({ name, shared }) => (shared ? [{ name, spend: shared }] : [])),
  ]
  const spray =
    spraying &&
    sprayLimit({
      key: spraying.key,
      passwords: limit('password', spraying.password, MOST_SPRAYING_KEYS.passwords),
      addresses: limit('sprayed', spraying.address, MOST_SPRAYING_KEYS.networks),
      guesses: memoryBudget(
        { points: 1, duration: Math.ceil(spraying.password.duration / 1000) },
        MOST_SPRAYING_KEYS.guesses,
      ),
    })

  const exhausted = ({ msBeforeNext }: Exhausted, limit: LimitName) =>
    new AuthError('too_many_attempts', { limit, retryAfter: Math.max(1, Math.ceil(msBeforeNext / 1000)) })

  return {
    // An own property, so that no polluted prototype receives passwords.
    digestPassword: spray?.digest,
    check(email, address, passwordDigest) {
      const keyOf = throttleKeys(email, address)
      for (const { name, memory } of limits) {
        const refusal = memory.exhausted(keyOf(name))
        if (refusal) throw exhausted(refusal, name)
      }
      if (passwordDigest === undefined) return
      const refusal = spray?.exhausted(passwordDigest, keyOf)
      if (refusal) throw exhausted(refusal, 'spraying')
    },
    async spend(email, address, storeFailed, passwordDigest) {
      const keyOf = throttleKeys(email, address)
      const spent: { name: LimitName; giveBack: () => void }[] = []
      const giveBack: Spent['giveBack'] = (except) => {
        for (const point of spent) if (point.name !== except) point.giveBack()
      }
      try {
        for (const { name, spend } of counters) {
          const point = await spend(keyOf(name), storeFailed)
          if (typeof point !== 'function') throw exhausted(point, name)
          spent.push({ name, giveBack: point })
        }
        if (!spray || passwordDigest === undefined) return { giveBack }
        const attempt = await spray.spend(passwordDigest, keyOf, storeFailed)
        if (attempt.refusal) throw exhausted(attempt.refusal, 'spraying')
        spent.push({ name: 'spraying', giveBack: attempt.giveBack })
        return { giveBack, failed: attempt.failed }
      } catch (error) {
        giveBack()
        throw error
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
  const get = memberOf(limiter, 'get')
  if (get === undefined || typeof get === 'function') return limiter
  throw new InvalidOption('a limiter whose "get" is a function, or missing')
}
