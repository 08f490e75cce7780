import { LRUCache } from 'lru-cache'

/** What the `limiter` option is given: the options of a rate-limiter-flexible limiter. */
export interface LimiterOptions {
  /** What the budget's keys begin with in the store: `login-pair`, `login-address` or `login-account`. */
  keyPrefix: string
  /** How many failed logins are let through within `duration`. */
  points: number
  /** In seconds. */
  duration: number
}

/** What is used of a rate-limiter-flexible limiter. While it fails or hangs, the same budget goes on in this process's memory. */
export interface Limiter {
  /**
   * Spends a point. Resolves with an object whose `msBeforeNext` says when the window ends; without that number, no point is given
   * back. Rejects with an object that has `msBeforeNext` when no point is left. Any other rejection means that the store has failed.
   */
  consume(key: string): Promise<unknown>
  /** Gives a point back. Resolves with an object whose `consumedPoints` says how many are spent now. */
  reward(key: string): Promise<unknown>
}

/** That no point is left, as rate-limiter-flexible says it. */
export interface Exhausted {
  msBeforeNext: number
}

/** The most keys that one budget remembers; then the least recently used are forgotten. */
const MOST_KEYS = 30_000

/** A budget in this process's memory. */
export interface MemoryBudget {
  /** Tells whether no point is left, without spending one. */
  exhausted(key: string): Exhausted | undefined
  /** Spends a point, and gives what gives it back; or tells that none is left. */
  spend(key: string): (() => void) | Exhausted
}

/**
 * rate-limiter-flexible's own memory limiter keeps a timer for every key, without bound, and counts by the wall clock: here
 * memory is bounded, and a clock that is set does not matter.
 */
export function memoryBudget({ points, duration }: LimiterOptions): MemoryBudget {
  const perf = { now: () => performance.now() }
  const spent = new LRUCache<string, { points: number }>({
    max: MOST_KEYS,
    ttl: duration * 1000,
    ttlResolution: 0,
    perf,
  })
  const exhausted = (key: string) =>
    (spent.get(key)?.points ?? 0) >= points ? { msBeforeNext: spent.getRemainingTTL(key) } : undefined

  return {
    exhausted,
    spend(key) {
      const refusal = exhausted(key)
      if (refusal) return refusal
      const entry = spent.get(key) ?? { points: 0 }
      if (entry.points === 0) spent.set(key, entry)
      entry.points++
      let returned = false
      return () => {
        if (returned) return
        returned = true
        entry.points--
        // What holds nothing must not push out what does. But the last one stays: to be emptied, the cache goes over all the
        // places that it could fill, which would be most of what a login costs.
        if (entry.points === 0 && spent.size > 1 && spent.peek(key) === entry) spent.delete(key)
      }
    },
  }
}
