import { bare } from '../../shared/values.js'
import { lruCache } from '../on-first-use.cjs'

/** The rest of a window in which a limit is reached. */
export interface Exhausted {
  msBeforeNext: number
}

/** The most keys of one limit. With more keys, the least recently used key is dropped. */
const MOST_KEYS = 30_000

/** Options without a prototype, because lru-cache would read a `ttl` or a `start` from a polluted prototype and forget the failures. */
const OPTIONS = bare({})

/** The failures of one limit in this process's memory. */
export interface Failures {
  count(key: string): number
  /** Returns the wait if the limit is reached. */
  reached(key: string): Exhausted | undefined
  /** Counts a failure. The first one begins the window. */
  add(key: string): void
  /** Notes that the shared store has reached the limit. */
  exhaust(key: string, wait: Exhausted): void
}

/**
 * Counts failures in memory, with a bounded number of keys and a monotonic clock. The memory limiter of rate-limiter-flexible has a
 * timer for each of any number of keys, and uses the wall clock.
 * @param points the number of failures that reach the limit
 * @param duration the length of the window, in seconds
 * @param mostKeys the most keys, in slots that are allocated when they are needed. Default: 30,000
 */
export function createFailures(points: number, duration: number, mostKeys?: number): Failures {
  const perf = { now: () => performance.now() }
  const { LRUCache } = lruCache()
  // With `max`, lru-cache allocates all slots at once. With `maxSize`, it grows.
  const bound = mostKeys === undefined ? { max: MOST_KEYS } : { maxSize: mostKeys, sizeCalculation: () => 1 }
  const counts = new LRUCache<string, { failures: number }>(
    bare({ ...bound, ttl: duration * 1000, ttlResolution: 0, perf }),
  )
  const count = (key: string) => counts.get(key, OPTIONS)?.failures ?? 0
  const reached = (key: string) => (count(key) >= points ? { msBeforeNext: counts.getRemainingTTL(key) } : undefined)

  return {
    count,
    reached,
    add(key) {
      const entry = counts.get(key, OPTIONS)
      if (entry) entry.failures++
      else counts.set(key, { failures: 1 }, OPTIONS)
    },
    exhaust(key, { msBeforeNext }) {
      const known = reached(key)
      if (known && known.msBeforeNext >= msBeforeNext) return
      // For lru-cache, 0 means without end.
      counts.set(key, { failures: points }, bare({ ttl: Math.max(1, msBeforeNext) }))
    },
  }
}
