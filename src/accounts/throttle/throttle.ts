import { AuthError } from '../../shared/errors.js'
import {
  type Check,
  type Duration,
  duration,
  func,
  InvalidOption,
  integer,
  isPlainObject,
  named,
  optional,
  readOptions,
  withMethods,
} from '../../shared/options.js'
import { type Exhausted, type Limiter, type LimiterOptions, memoryBudget } from './memory-budget.js'
import { sharedBudget, sharedStore } from './shared-budget.js'
import { type BudgetName, throttleKeys } from './throttle-keys.js'

/** A failed-login limit, as set with the `budgets` option. */
export interface Budget {
  /** The number of failures that are allowed: 1 to 1,000,000. */
  points: number
  /** The length of the window: a second to 366 days, rounded up to whole seconds. */
  duration: Duration
}

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
}

/** Failed-login limits, from `createThrottle` or from the host. */
export interface Throttle {
  /**
   * Refuses a login whose limit is known to be used up, before the login waits in the queue. Counts nothing.
   * @throws AuthError `too_many_attempts`
   */
  check?(email: string, address: string | undefined): void
  /**
   * Counts an attempt against every limit, before a password is checked. `giveBack` takes it back when the login did not fail.
   * @param storeFailed called with the error when the login continues without the shared store
   * @throws AuthError `too_many_attempts`; the attempt is then not counted
   */
  spend(email: string, address: string | undefined, storeFailed: (error: unknown) => void): Promise<Spent>
}

/**
 * One counted attempt.
 * @inline
 */
export interface Spent {
  /** Takes the attempt back, except from one limit. */
  giveBack(except?: 'address'): void
}

const budgetSchema = {
  points: integer(1, 1_000_000, 'a number of failures'),
  duration: duration(1000, 366 * 86_400_000),
}

function budget(name: string, fallback: { points: number; duration: number }) {
  const check: Check<{ points: number; duration: number } | false> = (value) => {
    if (value === false) return false
    if (!isPlainObject(value)) throw new InvalidOption('{ points, duration } or false')
    return readOptions<Budget, typeof budgetSchema>(
      `createThrottle: option "budgets.${name}"`,
      value as unknown as Budget,
      budgetSchema,
    )
  }
  return optional(check, fallback)
}

const HOUR = 3_600_000

const schema = {
  limiter: optional(func<(options: LimiterOptions) => Limiter>('a function (options) => limiter')),
  budgets: optional((value: unknown) => value),
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
 * Creates failed-login limits (OWASP ASVS 5, 6.3.1). Share one object between all token routers of a process, because two objects
 * would allow twice the guesses.
 * @throws TypeError that names the invalid option
 */
export function createThrottle(options?: ThrottleOptions): Required<Throttle> {
  const caller = 'createThrottle'
  const { limiter: factory, budgets } = readOptions<ThrottleOptions, typeof schema>(caller, options, schema, {
    store: 'limiter',
    budget: 'budgets',
  })
  const sizes = readOptions<Budgets, typeof budgetsSchema>(
    `${caller}: option "budgets"`,
    budgets as Budgets | undefined,
    budgetsSchema,
    { ip: 'address', email: 'account', user: 'account' },
  )
  const store = sharedStore()
  const limits = ORDER.flatMap((name) => {
    const size = sizes[name]
    if (!size) return []
    const settings = { keyPrefix: `login-${name}`, points: size.points, duration: Math.ceil(size.duration / 1000) }
    const limiter = factory && named(`${caller}: what "limiter" returned`, limiterCheck, factory({ ...settings }))
    return [{ name, memory: memoryBudget(settings), shared: limiter && sharedBudget(limiter, store, settings) }]
  })
  // Memory counts in addition to the shared store: it refuses without a round trip, and continues while the store is down.
  const counters = [
    ...limits.map(({ name, memory }) => ({ name, spend: memory.spend })),
    ...limits.flatMap(({ name, shared }) => (shared ? [{ name, spend: shared }] : [])),
  ]

  const exhausted = ({ msBeforeNext }: Exhausted) =>
    new AuthError('too_many_attempts', { retryAfter: Math.max(1, Math.ceil(msBeforeNext / 1000)) })

  return {
    check(email, address) {
      const keyOf = throttleKeys(email, address)
      for (const { name, memory } of limits) {
        const refusal = memory.exhausted(keyOf(name))
        if (refusal) throw exhausted(refusal)
      }
    },
    async spend(email, address, storeFailed) {
      const keyOf = throttleKeys(email, address)
      const spent: { name: BudgetName; giveBack: () => void }[] = []
      const giveBack: Spent['giveBack'] = (except) => {
        for (const point of spent) if (point.name !== except) point.giveBack()
      }
      for (const { name, spend } of counters) {
        const point = await spend(keyOf(name), storeFailed)
        if (typeof point !== 'function') {
          giveBack()
          throw exhausted(point)
        }
        spent.push({ name, giveBack: point })
      }
      return { giveBack }
    },
  }
}

const limiterCheck = withMethods<Limiter>(
  'a rate-limiter-flexible limiter',
  ['consume', 'reward'],
  () => 'It has "consume" and "reward"',
)
