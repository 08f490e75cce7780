import { LRUCache } from 'lru-cache'

/** What the `limiter` option is given: the options of a rate-limiter-flexible limiter. */
export interface LimiterOptions {
  keyPrefix: string
  points: number
  /** Seconds. */
  duration: number
}

/** What is used of a rate-limiter-flexible limiter. */
export interface Limiter {
  /** Spends a point. Rejects with an object that has `msBeforeNext` when none is left, and with an `Error` when the store fails. */
  consume(key: string): Promise<unknown>
  /** Gives a point back. */
  reward(key: string): Promise<unknown>
}

/** The most keys that one budget remembers; then the least recently used are forgotten. */
const MOST_KEYS = 30_000

/**
 * A budget in this process's memory, with the face of a rate-limiter-flexible limiter. That package's own keeps a timer for
 * every key, without bound, and counts by the wall clock: here memory is bounded, and a clock that is set does not matter.
 */
export function memoryLimiter({ points, duration }: LimiterOptions): Limiter {
  const perf = { now: () => performance.now() }
  const spent = new LRUCache<string, { points: number }>({
    max: MOST_KEYS,
    ttl: duration * 1000,
    ttlResolution: 0,
    perf,
  })
  return {
    consume(key) {
      const entry = spent.get(key) ?? { points: 0 }
      if (entry.points === 0) spent.set(key, entry)
      if (entry.points >= points) return Promise.reject({ msBeforeNext: spent.getRemainingTTL(key) })
      entry.points++
      return Promise.resolve()
    },
    reward(key) {
      const entry = spent.get(key)
      if (entry && entry.points > 0) entry.points--
      return Promise.resolve()
    },
  }
}
