import { createHash } from 'node:crypto'
import ipaddr from 'ipaddr.js'
import { AuthError } from '../errors.js'
import {
  type Check,
  type Duration,
  duration,
  Expected,
  func,
  integer,
  isPlainObject,
  named,
  optional,
  readOptions,
} from '../options.js'
import { type Limiter, type LimiterOptions, memoryLimiter } from './limiter.js'

/** A budget of failed logins. */
export interface Budget {
  /** How many failures are let through. */
  points: number
  /** Within how long. Whole seconds. */
  duration: Duration
}

export interface ThrottleOptions {
  /**
   * Puts the budgets on a shared store: `(options) => new RateLimiterRedis({ ...options, storeClient })`. While the store
   * fails or hangs, the same budgets go on in this process's memory. Default: in memory alone.
   */
  limiter?: (options: LimiterOptions) => Limiter
  /** `false` leaves a budget out. */
  budgets?: {
    /** One account from one address (an IPv6 address by its /64). Default 10 in 15 minutes. */
    pair?: Budget | false
    /** One address, whatever the account. Default 100 in an hour. */
    address?: Budget | false
    /** One account, whatever the address. Default 100 in an hour (NIST SP 800-63B section 3.2.2). */
    account?: Budget | false
  }
}

/** Failed-login budgets. */
export interface Throttle {
  /**
   * Spends a point of every budget before a password is checked; `giveBack` returns them when it was no failed login.
   * @throws AuthError `too_many_attempts`; then nothing is spent
   */
  spend(email: string, address: string | undefined, storeFailed: (error: unknown) => void): Promise<Spent>
}

export interface Spent {
  giveBack(): void
}

const budgetRows = { points: integer(1, 1_000_000, 'a number of failures'), duration: duration(1000, 366 * 86_400_000) }

function budget(name: string, fallback: { points: number; duration: number }) {
  const check: Check<{ points: number; duration: number } | false> = (value) => {
    if (value === false) return false
    if (!isPlainObject(value)) throw new Expected('{ points, duration } or false')
    return readOptions<Budget, typeof budgetRows>(
      `createThrottle: option "budgets.${name}"`,
      value as unknown as Budget,
      budgetRows,
    )
  }
  return optional(check, fallback)
}

const HOUR = 3_600_000

const rows = {
  limiter: optional(func<(options: LimiterOptions) => Limiter>('a function (options) => limiter')),
  budgets: optional((value: unknown) => value),
}

const budgetsRows = {
  address: budget('address', { points: 100, duration: HOUR }),
  pair: budget('pair', { points: 10, duration: HOUR / 4 }),
  account: budget('account', { points: 100, duration: HOUR }),
}

type BudgetName = keyof typeof budgetsRows

/**
 * The order matters: an attempt that its address may not make leaves no trace elsewhere, and one that is refused for its
 * pair does not spend what its account's owner has from another address.
 */
const ORDER: readonly BudgetName[] = ['address', 'pair', 'account']

/** For how long a shared store may say nothing at all, and for how long one that failed is left alone. */
const STORE = { patienceMs: 40, restMs: 1000 }

/**
 * Makes failed-login budgets.
 * @throws TypeError naming the option that cannot be used
 */
export function createThrottle(options?: ThrottleOptions): Throttle {
  const caller = 'createThrottle'
  const { limiter: factory, budgets } = readOptions<ThrottleOptions, typeof rows>(caller, options, rows, {
    store: 'limiter',
    budget: 'budgets',
  })
  const sizes = readOptions<NonNullable<ThrottleOptions['budgets']>, typeof budgetsRows>(
    `${caller}: option "budgets"`,
    budgets as NonNullable<ThrottleOptions['budgets']> | undefined,
    budgetsRows,
    { ip: 'address', email: 'account', user: 'account' },
  )
  const store = sharedStore()
  const counters = ORDER.flatMap((name) => {
    const size = sizes[name]
    if (!size) return []
    const settings = { keyPrefix: `login-${name}`, points: size.points, duration: Math.ceil(size.duration / 1000) }
    const shared = factory && named(`${caller}: what "limiter" returned`, limiterCheck, factory({ ...settings }))
    return [{ name, spend: counter(memoryLimiter(settings), shared, store) }]
  })

  return {
    async spend(email, address, storeFailed) {
      const keys = keysOf(email, address)
      const spent: Spent[] = []
      const giveBack = () => {
        for (const point of spent) point.giveBack()
      }
      try {
        for (const { name, spend } of counters) spent.push(await spend(keys[name], storeFailed))
      } catch (outcome) {
        giveBack()
        const seconds = isSpent(outcome) ? Math.ceil(outcome.msBeforeNext / 1000) : 1
        throw new AuthError('too_many_attempts', { retryAfter: Math.max(1, seconds) })
      }
      return { giveBack }
    },
  }
}

const limiterCheck: Check<Limiter> = (value) => {
  const fits = isPlainObject(value) && typeof value['consume'] === 'function' && typeof value['reward'] === 'function'
  if (!fits) throw new Expected('a rate-limiter-flexible limiter', 'It has "consume" and "reward"')
  return value as unknown as Limiter
}

/** Whether a limiter refused because no point is left. Anything else that it rejects with is a failure of its store. */
function isSpent(outcome: unknown): outcome is { msBeforeNext: number } {
  return !(outcome instanceof Error) && isPlainObject(outcome) && typeof outcome['msBeforeNext'] === 'number'
}

/** Watches the store behind the limiters, whichever of them asks it. */
function sharedStore() {
  let restsUntil = Number.NEGATIVE_INFINITY
  let answeredAt = Number.NEGATIVE_INFINITY

  /** Rejects once the store has said nothing for too long: in a burst an answer may be late, but others come meanwhile. */
  function silence(): { promise: Promise<never>; end(): void } {
    let timer: NodeJS.Timeout | undefined
    let ended = false
    const promise = new Promise<never>((_, reject) => {
      const wait = (since: number) => {
        timer = setTimeout(() => setImmediate(look, since), Math.max(0, since + STORE.patienceMs - performance.now()))
      }
      // After setImmediate: a process that was busy itself has by then read what had arrived.
      const look = (since: number) => {
        if (ended) return
        if (answeredAt > since) wait(answeredAt)
        else reject(new Error(`throttle: the store said nothing for ${STORE.patienceMs} ms`))
      }
      wait(performance.now())
    })
    const end = () => {
      ended = true
      clearTimeout(timer)
    }
    return { promise, end }
  }

  return {
    /** Left alone for a moment after a failure, so that only one login in that time waits for it. */
    rests: () => performance.now() < restsUntil,
    failed() {
      restsUntil = performance.now() + STORE.restMs
    },
    /** The answer, or a failure when the store is silent. */
    async answerOf(answer: Promise<unknown>): Promise<void> {
      const { promise, end } = silence()
      const answered = answer.finally(() => {
        answeredAt = performance.now()
      })
      await Promise.race([answered, promise]).finally(end)
    },
  }
}

/**
 * A budget's counter. Memory counts along with the shared store: what it refuses need not be asked for, and when the store
 * goes away it knows what this process has seen.
 */
function counter(memory: Limiter, shared: Limiter | undefined, store: ReturnType<typeof sharedStore>) {
  return async (key: string, storeFailed: (error: unknown) => void): Promise<Spent> => {
    await memory.consume(key)
    let pending: Promise<unknown> | undefined
    const giveBack = () => {
      memory.reward(key)
      // Given back whenever it was spent, and only then: the answer may still be on its way.
      pending?.then(() => shared?.reward(key)).catch(() => {})
    }
    if (shared && !store.rests()) {
      try {
        pending = Promise.resolve(shared.consume(key))
        await store.answerOf(pending)
      } catch (outcome) {
        if (isSpent(outcome)) {
          memory.reward(key)
          throw outcome
        }
        // One failure is told of once, however many logins it met.
        if (!store.rests()) storeFailed(outcome)
        store.failed()
      }
    }
    return { giveBack }
  }
}

/** Keys of one length that hold no address in the clear: a shared store is no place for a list of e-mails. */
function keysOf(email: string, address: string | undefined): Record<BudgetName, string> {
  const account = email.trim().normalize('NFKC').toLowerCase()
  const network = networkOf(address)
  return { address: digest(network), account: digest(account), pair: digest(`${network} ${account}`) }
}

const digest = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 22)

/** An IPv6 address by its /64, which is what one subscriber has; an IPv4 address, mapped or not, by itself. */
function networkOf(address = ''): string {
  const plain = address.split('%')[0] ?? ''
  if (!ipaddr.isValid(plain)) return plain
  const parsed = ipaddr.process(plain)
  return parsed instanceof ipaddr.IPv6 ? `${parsed.parts.slice(0, 4).join(':')}/64` : parsed.toString()
}
