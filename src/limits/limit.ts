import { AuthError } from '../errors/auth-error.js'
import type { LimitName } from '../errors/codes.js'
import { type Duration, duration as durationOption, integer } from '../options/checks.js'
import type { Message } from '../options/misuse.js'
import { type Check, InvalidOption, readOptions } from '../options/read-options.js'
import { bare, isPlainObject } from '../options/values.js'
import { lruCache } from '../packages/on-first-use.cjs'
import type { Counted, Entered, SharedLimit, Size } from './shared-limit.js'
import type { StoreFailed } from './shared-store.js'

/** A failed-login limit, as set with the options `limits` and `spraying`. */
export interface LoginLimit {
  /** The number of failures that are allowed: 1 to 1,000,000. */
  points: number
  /** The length of the window: a second to 366 days, rounded up to whole seconds. */
  duration: Duration
}

const schema = {
  points: integer(1, 1_000_000, 'a number of failures'),
  duration: durationOption(1000, 366 * 86_400_000),
}

/** Creates a check for a limit. `name` is the caller and the option, for messages. */
export function limitOption(name: Message, what = '{ points, duration }'): Check<Size> {
  return (value) => {
    if (!isPlainObject(value)) throw new InvalidOption(what)
    const { points, duration } = readOptions<LoginLimit, typeof schema>(name, value as unknown as LoginLimit, schema)
    return { points, duration: Math.ceil(duration / 1000) }
  }
}

/** Options without a prototype, because lru-cache would read a `ttl` or a `start` from a polluted prototype and forget the failures. */
const OPTIONS = bare({})

const NOTHING: Counted = { points: 0, msBeforeNext: 0 }

/** Two ends that differ by less belong to one reset. */
const SAME_RESET_MS = 500

/** The time between two removals of ended windows from memory. */
const PURGE_MS = 60_000

export type Limit = ReturnType<typeof createLimit>

/**
 * Creates one failed-login limit in this process's memory. Memory refuses without a round trip, and continues while the shared store is
 * down. An attempt begins only where failures and attempts under way leave room, so simultaneous guesses never exceed the limit.
 *
 * It has a bounded number of keys and a monotonic clock. The memory limiter of rate-limiter-flexible has a timer for each of any number
 * of keys, and uses the wall clock.
 * @param shared the same limit in the shared store, if there is one
 * @param mostKeys with more keys, the least recently used key is dropped
 */
export function createLimit(name: LimitName, { points, duration }: Size, shared?: SharedLimit, mostKeys = 30_000) {
  const perf = { now: () => performance.now() }
  const { LRUCache } = lruCache()
  // With `max`, lru-cache would allocate all slots at once. With `maxSize`, it grows.
  const bounds = bare({ maxSize: mostKeys, sizeCalculation: () => 1, ttl: duration * 1000, ttlResolution: 0, perf })
  const failures = new LRUCache<string, { count: number }>(bounds)
  /** The end of the last reset that has lifted a key, for memory and for the store. */
  const lifted = new LRUCache<string, number>(bounds)
  const underWay = new Map<string, number>()
  let isPurging = false

  /** Removes ended windows within a minute, because the keys are personal data. lru-cache keeps them until it reads or drops them. */
  function purgeLater(): void {
    if (isPurging) return
    isPurging = true
    const timer = setTimeout(() => {
      isPurging = false
      failures.purgeStale()
      lifted.purgeStale()
      if (failures.size + lifted.size > 0) purgeLater()
    }, PURGE_MS)
    // A host's fake timers may have no `unref`.
    timer.unref?.()
  }

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
    /** True if the keys begin with the key of an account, so that `reset` lifts the limit. */
    isOfAccount: name === 'pair' || name === 'account',
    /** Forgets the failures of an account. Returns their keys. */
    forget(account: string): string[] {
      const keys = [...failures.keys()].filter((key) => key.startsWith(account))
      for (const key of keys) failures.delete(key)
      return keys
    },
    /**
     * Forgets the failures of a key if their window began before a reset. Each reset lifts a key once, because the clocks of
     * processes differ.
     * @param rest the rest of the reset's own window
     */
    forgetOlder(key: string, rest: number, place: 'memory' | 'store'): boolean {
      const ends = performance.now() + rest
      const known = lifted.get(`${place} ${key}`, OPTIONS) ?? 0
      if (failures.getRemainingTTL(key) >= rest || ends < known + SAME_RESET_MS) return false
      lifted.set(`${place} ${key}`, ends, OPTIONS)
      purgeLater()
      failures.delete(key)
      return true
    },
    /** Begins an attempt. Returns false when failures and attempts under way leave no room. */
    begin(key: string): boolean {
      const others = underWay.get(key) ?? 0
      if (countOf(key) + others >= points) return false
      underWay.set(key, others + 1)
      return true
    },
    end(key: string): void {
      const others = (underWay.get(key) ?? 0) - 1
      if (others > 0) underWay.set(key, others)
      else underWay.delete(key)
    },
    /** Counts a failure. The first one begins the window. */
    fail(key: string): void {
      const known = failures.get(key, OPTIONS)
      if (known) known.count++
      else failures.set(key, { count: 1 }, OPTIONS)
      purgeLater()
    },
    /** Learns a count of the store. Returns the refusal if the count and the attempts under way in all processes leave no room. */
    learn(key: string, { points: inStore, msBeforeNext }: Counted = NOTHING, others = 0): AuthError | undefined {
      const known = reached(key) ? failures.getRemainingTTL(key) : 0
      // For lru-cache, 0 means without end.
      const ttl = Math.max(1, known, msBeforeNext)
      if (inStore >= points) {
        failures.set(key, { count: points }, bare({ ttl }))
        purgeLater()
      }
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
