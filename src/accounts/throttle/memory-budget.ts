import { bare } from '../../shared/values.js'
import { lruCache } from '../on-first-use.cjs'

/** The argument of the `limiter` option: options of a rate-limiter-flexible limiter. */
export interface LimiterOptions {
  /** The prefix of the limit's keys in the store: `login-pair`, `login-address`, `login-account`, `login-password` or `login-sprayed`. */
  keyPrefix: string
  /** The number of failed logins that are allowed within `duration`. */
  points: number
  /** The length of the window, in seconds. */
  duration: number
}

/** The methods of a rate-limiter-flexible limiter. While they fail or hang, the limit continues in this process's memory. */
export interface Limiter {
  /**
   * Counts an attempt. Resolves with an object whose `msBeforeNext` says when the window ends. Without that number, the attempt is
   * never taken back. Rejects with an object that has `msBeforeNext` when the limit is reached. Any other rejection means that the
   * store has failed.
   */
  consume(key: string): Promise<unknown>
  /** Takes an attempt back. Resolves with an object whose `consumedPoints` is the number of counted attempts. */
  reward(key: string): Promise<unknown>
  /**
   * Reads a count. Resolves with an object with `consumedPoints` and `msBeforeNext`, or with nothing. Only the limit on spraying reads.
   * Without this method, each process learns from its own first failure that a password is a sprayed one.
   */
  get?(key: string): Promise<unknown>
}

/** The result of rate-limiter-flexible for a limit that is reached. */
export interface Exhausted {
  msBeforeNext: number
}

/** The most keys of one limit. With more keys, the least recently used key is dropped. */
const MOST_KEYS = 30_000

/** Options without a prototype, because lru-cache would read a `ttl` or a `start` from a polluted prototype and forget the attempts. */
const OPTIONS = bare({})

/** A failed-login limit in this process's memory. */
export interface MemoryBudget {
  /** Returns the wait if the limit is reached. Counts nothing. */
  exhausted(key: string): Exhausted | undefined
  /** Counts an attempt and returns a function that takes it back. Returns the wait if the limit is reached. */
  spend(key: string): (() => void) | Exhausted
  /** Uses the limit up for a time, because the shared store says so. */
  exhaust(key: string, wait: Exhausted): void
}

/**
 * Creates a limit in memory, with a bounded number of keys and a monotonic clock. The memory limiter of rate-limiter-flexible has
 * a timer for each of any number of keys, and uses the wall clock.
 * @param mostKeys the most keys, in slots that are allocated when they are needed. Default: 30,000
 */
export function memoryBudget(
  { points, duration }: Pick<LimiterOptions, 'points' | 'duration'>,
  mostKeys?: number,
): MemoryBudget {
  const perf = { now: () => performance.now() }
  const { LRUCache } = lruCache()
  // With `max`, lru-cache allocates all slots at once. With `maxSize`, it grows.
  const bound = mostKeys === undefined ? { max: MOST_KEYS } : { maxSize: mostKeys, sizeCalculation: () => 1 }
  const spent = new LRUCache<string, { points: number }>(
    bare({ ...bound, ttl: duration * 1000, ttlResolution: 0, perf }),
  )
  const exhausted = (key: string) =>
    (spent.get(key, OPTIONS)?.points ?? 0) >= points ? { msBeforeNext: spent.getRemainingTTL(key) } : undefined

  return {
    exhausted,
    spend(key) {
      const refusal = exhausted(key)
      if (refusal) return refusal
      const entry = spent.get(key, OPTIONS) ?? { points: 0 }
      if (entry.points === 0) spent.set(key, entry, OPTIONS)
      entry.points++
      let returned = false
      return () => {
        if (returned) return
        returned = true
        entry.points--
        // Deletes an empty entry, so that it displaces no other entry. Keeps the last one, because emptying the cache visits every
        // slot that it could fill, which would dominate the cost of a login.
        if (entry.points === 0 && spent.size > 1 && spent.peek(key, OPTIONS) === entry) spent.delete(key)
      }
    },
    exhaust(key, { msBeforeNext }) {
      // For lru-cache, 0 means without end.
      spent.set(key, { points }, bare({ ttl: Math.max(1, msBeforeNext) }))
    },
  }
}
