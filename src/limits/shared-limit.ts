import { bare, memberOf, resultOrUndefined } from '../options/values.js'
import { lruCache } from '../packages/on-first-use.cjs'
import type { SharedStore, StoreFailed } from './shared-store.js'

/** The argument of the `limiter` option: options of a rate-limiter-flexible limiter. */
export interface LimiterOptions {
  /** Prefix for keys in the store: `login-pair`, `login-address`, or `login-account`. */
  keyPrefix: string
  /** Number of failed logins allowed within `duration`. */
  points: number
  /** Time window in seconds. */
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
  /** Reads a count. Resolves with the result, or with nothing. */
  get(key: string): Promise<unknown>
  /** Removes a count. */
  delete(key: string): Promise<unknown>
}

export interface Counted {
  points: number
  msBeforeNext: number
  /** False where the result has no time, or one after the window. */
  hasEnd?: boolean
}

const NOTHING: Counted = { points: 0, msBeforeNext: 0 }

export type SharedLimit = ReturnType<typeof sharedLimit>

/**
 * The key that `reset` writes for an account, because the networks from which it has failures are unknown. Its window ends after each
 * window that began before the reset.
 */
const resetKey = (account: string) => `${account}:reset`

/** Two marks whose ends differ by less are one mark, because responses take different times. */
const MARK_MS = 500

/** Creates a failed-login limit on a shared store. Where the store fails or rests, the methods return undefined. */
export function sharedLimit(limiter: Limiter, { counting, reading }: SharedStore, { points, duration }: Size) {
  const windowMs = duration * 1000
  const { LRUCache } = lruCache()
  /** The ends of the marks for which this process has reset a key. A mark resets it once, because clocks of processes may differ. */
  const resetUntil = new LRUCache<string, number>(bare({ max: 1000 }))

  /** Reads a result. Returns a count of 0 for everything else. */
  function countedIn(result: unknown): Counted {
    const ms = numberOf(result, 'msBeforeNext') ?? -1
    const hasEnd = ms >= 0 && ms <= windowMs
    return { points: numberOf(result, 'consumedPoints') || 0, msBeforeNext: hasEnd ? ms : windowMs, hasEnd }
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

  const get = (key: string) => count(async () => limiter.get(key))
  const remove = async (key: string) => limiter.delete(key)

  /** Reads the failures of a key. Removes them when they are older than the last reset of their account. */
  async function readNow(key: string, account?: string): Promise<Counted> {
    const [counted, reset] = await Promise.all([get(key), account === undefined ? NOTHING : get(resetKey(account))])
    // A mark without an end would reset the key for ever.
    const hasReset = reset.points > 0 && reset.hasEnd === true
    if (!hasReset || counted.points === 0 || reset.msBeforeNext <= counted.msBeforeNext) return counted
    const endsAt = performance.now() + reset.msBeforeNext
    if (endsAt < (resetUntil.get(key) ?? 0) + MARK_MS) return counted
    try {
      await remove(key)
    } catch {
      return counted
    }
    resetUntil.set(key, endsAt)
    return NOTHING
  }

  return {
    /** @param account the key of the account, for a key that holds more than it */
    async read(key: string, account: string | undefined, storeFailed: StoreFailed): Promise<Counted | undefined> {
      return reading.rests() ? undefined : reading.resultOf(readNow(key, account), storeFailed)
    },
    async fail(key: string, storeFailed: StoreFailed): Promise<Counted | undefined> {
      async function consume(): Promise<Counted> {
        const counted = await count(async () => limiter.consume(key))
        if (counted.points >= 1) return counted
        throw new Error('limits: consume() of the limiter must resolve with { consumedPoints, msBeforeNext }')
      }
      return counting.rests() ? undefined : counting.resultOf(consume(), storeFailed)
    },
    /**
     * Removes the failures of an account.
     * @param keys the keys that this process knows
     * @throws the error of the store
     */
    async reset(account: string, keys: readonly string[]): Promise<void> {
      await remove(resetKey(account))
      await count(async () => limiter.consume(resetKey(account)))
      await Promise.all([...new Set([account, ...keys])].map(remove))
    },
  }
}

/** Reads a number from what a limiter returned or threw. */
function numberOf(value: unknown, name: string): number | undefined {
  const number = resultOrUndefined(() => memberOf(value as object, name))
  return typeof number === 'number' ? number : undefined
}
