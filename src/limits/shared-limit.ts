import { withDeadline } from '../concurrency/host-call.js'
import { attempt, bare, memberOf } from '../options/values.js'
import type { SharedStore, StoreFailed } from './shared-store.js'

/** The argument of the `limiter` option: options of a rate-limiter-flexible limiter. */
export interface LimiterOptions {
  /** The prefix of the limit's keys in the store: `login-pair`, `login-address`, `login-account`, `login-password` or `login-sprayed`. */
  keyPrefix: string
  /** The number of failed logins that are allowed within `duration`. */
  points: number
  /** The length of the window, in seconds. */
  duration: number
}

export type Size = Pick<LimiterOptions, 'points' | 'duration'>

/**
 * The methods of a rate-limiter-flexible limiter. While they fail or hang, the limit continues in this process's memory. Results are
 * objects with `consumedPoints`, the count after the call, and `msBeforeNext`, the time until the window ends.
 */
export interface Limiter {
  /**
   * Counts a failure. Rejects with the result when the limit is exceeded. Any other rejection means that the store has failed.
   */
  consume(key: string): Promise<unknown>
  /** Takes back an attempt that is no longer under way. */
  reward(key: string): Promise<unknown>
  /**
   * Counts an attempt as under way, in a window of `customDuration` seconds. Default: `consume`, in the limit's own window.
   */
  penalty?(key: string, points: number, options: { customDuration: number }): Promise<unknown>
  /**
   * Reads a count. Resolves with the result, or with nothing. Without this method, each process learns of failures in other processes
   * at its own next failure, and simultaneous guesses are limited in each process only.
   */
  get?(key: string): Promise<unknown>
  /** Removes a count. Without this method, the `reset` of the throttle rejects. */
  delete?(key: string): Promise<unknown>
}

export interface Counted {
  points: number
  msBeforeNext: number
}

/** An attempt that the store counts as under way. */
export interface Entered {
  /** The attempts under way in all processes, with this one. */
  readonly underWay: number
  leave(): void
}

/**
 * Attempts under way are counted in periods, so that those of a process that has ended disappear. Each attempt reads the current period and
 * the nearer neighbour. So it sees all attempts of the last two minutes, also where clocks differ. An attempt takes at most a minute,
 * which leaves a minute for the difference of clocks.
 */
const PERIOD_MS = 240_000

/** Seconds after which a period is not read any more. */
const PERIOD_ENDS = 480

function periodsOf(key: string): { current: string; neighbour: string } {
  const period = Math.floor(Date.now() / PERIOD_MS)
  const nearer = Math.round(Date.now() / PERIOD_MS) > period ? period + 1 : period - 1
  return { current: `${key}:${period}`, neighbour: `${key}:${nearer}` }
}

/** A call that meets a broken connection is retried once a second, as long as the attempt may count as under way. */
const RETRIES = { most: 120, ms: 1000 }

async function retried<T>(call: () => Promise<T>, first = call()): Promise<T> {
  let result = first
  for (let i = 0; i < RETRIES.most; i++) {
    try {
      return await result
    } catch {
      // A host's fake timers may have no `unref`.
      await new Promise((resolve) => setTimeout(resolve, RETRIES.ms).unref?.())
      result = call()
    }
  }
  return result
}

export type SharedLimit = ReturnType<typeof sharedLimit>

/**
 * The key that `reset` writes for an account. It ends after each window that began before the reset, so that processes compare these
 * ends. The networks from which an account has failures are unknown.
 */
const resetKey = (account: string) => `${account}:reset`

/** A refused login waits no longer to learn whether its account was reset, in milliseconds. */
const LONGEST_READ_MS = 200

/** Creates a failed-login limit on a shared store. Where the store fails or rests, the methods return undefined. */
export function sharedLimit(limiter: Limiter, { counting, reading }: SharedStore, { points, duration }: Size) {
  const windowMs = duration * 1000
  const get = memberOf(limiter, 'get') as Limiter['get']
  const remove = memberOf(limiter, 'delete') as Limiter['delete']
  const penalty = (memberOf(limiter, 'penalty') as Limiter['penalty']) ?? limiter.consume

  /** Reads a result. Returns a count of 0 for everything else. */
  function countedIn(result: unknown): Counted {
    const ms = numberOf(result, 'msBeforeNext') ?? windowMs
    return {
      points: numberOf(result, 'consumedPoints') || 0,
      msBeforeNext: ms >= 0 ? Math.min(ms, windowMs) : windowMs,
    }
  }

  /**
   * Makes a call. A rejection with a time is a refusal, also an `Error`, because refusing a login is safer than continuing without the
   * shared limit. A refusal means that the limit is reached, also when it states a lower count.
   */
  async function count(call: () => Promise<unknown>): Promise<Counted> {
    try {
      return countedIn(await call())
    } catch (outcome) {
      if (numberOf(outcome, 'msBeforeNext') === undefined) throw outcome
      const counted = countedIn(outcome)
      return { ...counted, points: Math.max(counted.points, points + 1) }
    }
  }

  /** Removes a count. Returns whether the limiter can. */
  async function removed(key: string): Promise<boolean> {
    if (!remove) return false
    await remove.call(limiter, key)
    return true
  }

  /** Asks the store for a count, unless it rests. */
  async function ask<T>(key: string, storeFailed: StoreFailed, run: (call: () => Promise<unknown>) => Promise<T>) {
    if (!get || reading.rests()) return undefined
    return reading.resultOf(
      run(async () => get.call(limiter, key)),
      storeFailed,
    )
  }

  /** Reads the failures. Call it after `enter`: an attempt that fails is counted as a failure before it leaves. */
  const read = (key: string, storeFailed: StoreFailed) => ask(key, storeFailed, count)

  /** Returns at most 0 where the store tells no end that can be true, because a reset without an end would lift limits for ever. */
  async function readRest(key: string, storeFailed: StoreFailed): Promise<number> {
    const asking = ask(key, storeFailed, (call) => call())
    const result = await withDeadline(LONGEST_READ_MS, asking).catch(() => undefined)
    const [failures = 0, rest = 0] = [numberOf(result, 'consumedPoints'), numberOf(result, 'msBeforeNext')]
    return failures > 0 && rest <= 2 * windowMs ? rest : 0
  }

  const asked = new Map<string, Promise<number>>()

  /** Returns the rest of the window that an account's last reset began, or 0. Asks once for refused logins that come together. */
  function sinceReset(account: string, storeFailed: StoreFailed): Promise<number> {
    const known = asked.get(account)
    if (known) return known
    const asking = readRest(resetKey(account), storeFailed).finally(() => asked.delete(account))
    asked.set(account, asking)
    return asking
  }

  return {
    canReset: get !== undefined && remove !== undefined,
    sinceReset,
    read,
    /** Removes the failures of a key. Returns whether the store did. */
    async remove(key: string, storeFailed: StoreFailed): Promise<boolean> {
      return (await counting.resultOf(removed(key), storeFailed)) === true
    },
    /**
     * Removes the failures of an account.
     * @param keys the keys that this process knows
     * @throws the error of the store
     */
    async reset(account: string, keys: readonly string[]): Promise<void> {
      await removed(resetKey(account))
      await count(async () => limiter.consume(resetKey(account)))
      await Promise.all([...new Set([account, ...keys])].map(removed))
    },
    async enter(key: string, storeFailed: StoreFailed): Promise<Entered | undefined> {
      if (counting.rests()) return undefined
      const { current, neighbour } = periodsOf(key)
      const entering = count(async () => penalty.call(limiter, current, 1, bare({ customDuration: PERIOD_ENDS })))
      const [inOwn, nearby] = await Promise.all([
        counting.resultOf(entering, storeFailed),
        read(neighbour, storeFailed),
      ])
      return {
        // A refund that was sent twice must not let another attempt pass.
        underWay: Math.max(inOwn?.points ?? 0, 1) + Math.max(nearby?.points ?? 0, 0),
        leave() {
          // The count may arrive after the login has continued without it. An attempt that was not counted is not taken back.
          entering.then(() => retried(async () => limiter.reward(current))).catch(() => {})
        },
      }
    },
    /** Counts a failure. The attempt leaves after that. */
    async fail(key: string, storeFailed: StoreFailed, entered?: Entered): Promise<Counted | undefined> {
      if (counting.rests() && !entered) return undefined
      const failing = () => count(async () => limiter.consume(key))
      const first = failing()
      if (entered) retried(failing, first).then(entered.leave, () => {})
      return counting.resultOf(first, storeFailed)
    },
  }
}

/** Reads a number from what a limiter returned or threw. */
function numberOf(value: unknown, name: string): number | undefined {
  const number = attempt(() => memberOf(value as object, name))
  return typeof number === 'number' ? number : undefined
}
