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

/** A budget of failed logins. */
export interface Budget {
  /** How many failures are let through: 1 to 1,000,000. */
  points: number
  /** Within how long: a second to 366 days, rounded up to whole seconds. */
  duration: Duration
}

/**
 * Each failed-login budget; `false` leaves one out.
 * @inline
 */
interface Budgets {
  /** One account from one address (an IPv6 address by its /64). Default 10 in 15 minutes. */
  pair?: Budget | false | undefined
  /** One address, whatever the account. Default 100 in an hour. */
  address?: Budget | false | undefined
  /** One account, whatever the address. Default 100 in an hour. */
  account?: Budget | false | undefined
}

/** What `createThrottle` takes. */
export interface ThrottleOptions {
  /**
   * Puts the budgets on a shared store: `(options) => new RateLimiterRedis({ ...options, storeClient })`. While the store
   * fails or hangs, the same budgets go on in this process's memory. Default: in memory alone.
   */
  limiter?: ((options: LimiterOptions) => Limiter) | undefined
  /** The budgets, each with a default of its own; `false` leaves one out. */
  budgets?: Budgets | undefined
}

/** Failed-login budgets: what `createThrottle` made, or a host's own. */
export interface Throttle {
  /**
   * Refuses a login at once whose limit is known to be used up, before it waits in the queue. Spends nothing.
   * @throws AuthError `too_many_attempts`
   */
  check?(email: string, address: string | undefined): void
  /**
   * Spends a point of every budget before a password is checked; `giveBack` returns them when it was no failed login.
   * @param storeFailed is told why the shared store was gone on without
   * @throws AuthError `too_many_attempts`; then nothing is spent
   */
  spend(email: string, address: string | undefined, storeFailed: (error: unknown) => void): Promise<Spent>
}

/**
 * Points that were spent on one attempt.
 * @inline
 */
export interface Spent {
  /** Gives them back, but for one budget's that is to be kept. */
  giveBack(but?: 'address'): void
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
 * The order matters: an attempt that its address may not make leaves no trace elsewhere, and one that is refused for its
 * pair does not spend what its account's owner has from another address.
 */
const ORDER: readonly BudgetName[] = ['address', 'pair', 'account']

/**
 * Makes failed-login budgets (OWASP ASVS 5, 6.3.1). To be shared by all token routers of a process:
 * two would let through twice as many guesses.
 * @throws TypeError naming the option that cannot be used
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
