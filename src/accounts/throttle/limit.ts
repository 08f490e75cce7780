import { AuthError } from '../../shared/errors.js'
import type { LimitName } from '../../shared/refusals.js'
import { bare } from '../../shared/values.js'
import { lruCache } from '../on-first-use.cjs'
import type { Counted, Entered, LimiterOptions, SharedLimit } from './shared-limit.js'
import type { StoreFailed } from './shared-store.js'

/** The most keys of one limit. With more keys, the least recently used key is dropped. */
const MOST_KEYS = 30_000

/** Options without a prototype, because lru-cache would read a `ttl` or a `start` from a polluted prototype and forget the failures. */
const OPTIONS = bare({})

/**
 * One failed-login limit in this process's memory. Memory refuses without a round trip, and continues while the shared store is down.
 * An attempt begins only where failures and attempts under way leave room, so simultaneous guesses never exceed the limit.
 */
export interface Limit {
  readonly name: LimitName
  /** The same limit in the shared store, if there is one. */
  readonly shared: SharedLimit | undefined
  /** Returns the refusal if failures reach the limit. */
  reached(key: string): AuthError | undefined
  /** Begins an attempt. Returns false when failures and attempts under way leave no room. */
  begin(key: string): boolean
  /** Ends an attempt. */
  end(key: string): void
  /** Counts a failure. The first one begins the window. */
  fail(key: string): void
  /** Learns a count of the store. Returns the refusal if the count and the attempts under way in all processes leave no room. */
  learn(key: string, counted: Counted | undefined, underWay?: number): AuthError | undefined
}

/**
 * Creates a limit with a bounded number of keys and a monotonic clock. The memory limiter of rate-limiter-flexible has a timer for each of
 * any number of keys, and uses the wall clock.
 * @param mostKeys the most keys, in slots that are allocated when they are needed. Default: 30,000
 */
export function createLimit(
  name: LimitName,
  { points, duration }: Pick<LimiterOptions, 'points' | 'duration'>,
  shared?: SharedLimit,
  mostKeys?: number,
): Limit {
  const perf = { now: () => performance.now() }
  const { LRUCache } = lruCache()
  // With `max`, lru-cache allocates all slots at once. With `maxSize`, it grows.
  const bound = mostKeys === undefined ? { max: MOST_KEYS } : { maxSize: mostKeys, sizeCalculation: () => 1 }
  const failures = new LRUCache<string, { count: number }>(
    bare({ ...bound, ttl: duration * 1000, ttlResolution: 0, perf }),
  )
  const underWay = new Map<string, number>()
  const countOf = (key: string) => failures.get(key, OPTIONS)?.count ?? 0

  function reached(key: string): AuthError | undefined {
    if (countOf(key) < points) return undefined
    const retryAfter = Math.max(1, Math.ceil(failures.getRemainingTTL(key) / 1000))
    return new AuthError('too_many_attempts', { limit: name, retryAfter })
  }

  return {
    name,
    shared,
    reached,
    begin(key) {
      const others = underWay.get(key) ?? 0
      if (countOf(key) + others >= points) return false
      underWay.set(key, others + 1)
      return true
    },
    end(key) {
      const others = (underWay.get(key) ?? 0) - 1
      if (others > 0) underWay.set(key, others)
      else underWay.delete(key)
    },
    fail(key) {
      const known = failures.get(key, OPTIONS)
      if (known) known.count++
      else failures.set(key, { count: 1 }, OPTIONS)
    },
    learn(key, counted, others = 0) {
      const { points: inStore, msBeforeNext } = counted ?? { points: 0, msBeforeNext: 0 }
      const isKnown = reached(key) && failures.getRemainingTTL(key) >= msBeforeNext
      // For lru-cache, 0 means without end.
      if (inStore >= points && !isKnown) failures.set(key, { count: points }, bare({ ttl: Math.max(1, msBeforeNext) }))
      const isFull = Math.max(inStore, countOf(key)) + others > points
      return reached(key) ?? (isFull ? new AuthError('overloaded') : undefined)
    },
  }
}

/** Counts a failure in memory and in the shared store, where the attempt then leaves. Returns the count in the store, if it tells. */
export async function countFailure(
  limit: Limit,
  key: string,
  storeFailed: StoreFailed,
  entered?: Entered,
): Promise<Counted | undefined> {
  limit.fail(key)
  const counted = await limit.shared?.fail(key, storeFailed, entered)
  limit.learn(key, counted)
  return counted
}
