import { AuthError } from '../errors/auth-error.js'
import type { LimitName } from '../errors/codes.js'
import { type Duration, duration as durationOption, integer } from '../options/checks.js'
import type { Message } from '../options/misuse.js'
import { type Check, InvalidOption, readOptions } from '../options/read-options.js'
import { bare, isPlainObject } from '../options/values.js'
import { lruCache } from '../packages/on-first-use.cjs'
import type { Counted, SharedLimit, Size } from './shared-limit.js'
import type { StoreFailed } from './shared-store.js'

/** A failed-login limit, as set with the option `limits`. */
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

/** The failures of a key, and how many of them the store has not confirmed. Replaced at each change. */
interface Failures {
  readonly count: number
  readonly unconfirmed: number
}

const NONE: Failures = { count: 0, unconfirmed: 0 }

/** The most keys in memory. A new key drops the least recently used one. A failure has two keys, of the address and of the account. */
const MOST_KEYS = 60_000

/** The time between two removals of ended windows from memory. */
const PURGE_MS = 60_000

export type Limit = ReturnType<typeof createLoginLimit>

/** The attempts at each key, each with its spelling of the address, where the limit is that of an account. */
type Attempts = Map<string, readonly (string | undefined)[]>

const attemptsIn = (attempts: Attempts, key: string) => attempts.get(key) ?? []

function add(attempts: Attempts, key: string, spelling?: string): void {
  attempts.set(key, [...attemptsIn(attempts, key), spelling])
}

function remove(attempts: Attempts, key: string, spelling?: string): void {
  const left = [...attemptsIn(attempts, key)]
  left.splice(left.indexOf(spelling), 1)
  if (left.length > 0) attempts.set(key, left)
  else attempts.delete(key)
}

/**
 * Creates one failed-login limit. Attempts under way are counted in this process only, and an attempt begins only where they and the known
 * failures leave room. So simultaneous guesses in one process never exceed the limit. Failures are counted in the shared store too.
 *
 * Memory has a bounded number of keys and a monotonic clock. The memory limiter of rate-limiter-flexible has a timer for each of any number
 * of keys, and uses the wall clock.
 * @param shared the same limit in the shared store, if there is one
 */
export function createLoginLimit(name: LimitName, { points, duration }: Size, shared?: SharedLimit) {
  const perf = { now: () => performance.now() }
  const { LRUCache } = lruCache()
  // With `max`, lru-cache would allocate all slots at once. With `maxSize`, it grows.
  const bounds = bare({ maxSize: MOST_KEYS, sizeCalculation: () => 1, ttl: duration * 1000, ttlResolution: 0, perf })
  const failures = new LRUCache<string, Failures>(bounds)
  const underWay: Attempts = new Map()
  /** The attempts whose failure the store has not counted yet. */
  const ending: Attempts = new Map()
  const reads = new Map<string, Promise<void>>()
  let isPurging = false

  /** Removes ended windows within a minute, because the keys are personal data. lru-cache keeps them until it reads or drops them. */
  function purgeLater(): void {
    if (isPurging) return
    isPurging = true
    const timer = setTimeout(() => {
      isPurging = false
      failures.purgeStale()
      if (failures.size > 0) purgeLater()
    }, PURGE_MS)
    // A host's fake timers may have no `unref`.
    timer.unref?.()
  }

  const known = (key: string) => failures.get(key, OPTIONS) ?? NONE
  const restOf = (key: string) => (known(key) === NONE ? 0 : failures.getRemainingTTL(key))

  function set(key: string, { count, unconfirmed }: Failures, ttl: number): void {
    if (count === 0) return void failures.delete(key)
    // For lru-cache, 0 means without end.
    failures.set(key, { count, unconfirmed }, bare({ ttl: Math.max(1, ttl) }))
    purgeLater()
  }

  const freeOf = (key: string) => points - known(key).count

  /**
   * Returns whether only one attempt may be under way: after the first failure of a pair in a store. So all processes together exceed the
   * limit by less than their number.
   */
  const isNarrow = (key: string) => shared !== undefined && name === 'pair' && known(key) !== NONE

  async function readNow(key: string, account: string | undefined, storeFailed: StoreFailed): Promise<void> {
    const before = known(key)
    const counted = await shared?.read(key, account, storeFailed)
    if (!counted) return
    const now = known(key)
    // A response that was on its way during a failure does not include it. A lower count is that of a reset.
    setFromStore(key, counted, now.unconfirmed, now === before && now.unconfirmed === 0)
  }

  function setFromStore(
    key: string,
    { points, msBeforeNext }: Counted,
    unconfirmed: number,
    mayBeLower: boolean,
  ): void {
    const [least, rest] = mayBeLower ? [0, 0] : [known(key).count, restOf(key)]
    set(key, { count: Math.max(least, points), unconfirmed }, Math.max(rest, msBeforeNext))
  }

  /** Counts a failure, in memory at once. The first one begins the window. */
  async function fail(key: string, storeFailed: StoreFailed): Promise<void> {
    const { count, unconfirmed } = known(key)
    set(key, { count: count + 1, unconfirmed: unconfirmed + 1 }, restOf(key) || duration * 1000)
    const counted = await shared?.fail(key, storeFailed)
    if (counted) setFromStore(key, counted, Math.max(0, known(key).unconfirmed - 1), false)
  }

  return {
    name,
    shared,
    /** True if the keys begin with the key of an account, so that `reset` lifts the limit. */
    isOfAccount: name === 'pair' || name === 'account',
    /** Returns the refusal when the limit is reached. */
    reached(key: string): AuthError | undefined {
      if (known(key).count < points) return undefined
      const retryAfter = Math.max(1, Math.ceil(failures.getRemainingTTL(key) / 1000))
      return new AuthError('too_many_attempts', { limit: name, retryAfter })
    },
    /** Returns whether attempts under way have more than their room, because other processes have counted failures. */
    isExceeded(key: string): boolean {
      const attempts = attemptsIn(underWay, key).length
      return attempts > freeOf(key) || (isNarrow(key) && attempts + attemptsIn(ending, key).length > 1)
    },
    /**
     * Begins an attempt. Returns false when failures and attempts under way leave no room.
     * @param spelling the key of its address, where the limit is that of an account: attempts with one spelling have their own limit
     */
    begin(key: string, spelling?: string): boolean {
      if (attemptsIn(underWay, key).length >= freeOf(key)) return false
      const others = [...attemptsIn(underWay, key), ...attemptsIn(ending, key)]
      if (isNarrow(key) && others.some((other) => other === undefined || other !== spelling)) return false
      add(underWay, key, spelling)
      return true
    },
    /** Ends an attempt without a failure. */
    end: (key: string, spelling?: string) => remove(underWay, key, spelling),
    /** Reads the failures that the store has counted. Simultaneous reads of a key are one call. */
    async read(key: string, account: string | undefined, storeFailed: StoreFailed): Promise<void> {
      const reading = reads.get(key) ?? readNow(key, account, storeFailed).finally(() => reads.delete(key))
      reads.set(key, reading)
      await reading
    },
    fail,
    /**
     * Ends an attempt with a failure. Where the limit is narrow, the attempt keeps its room until the store has counted the failure, because
     * other processes do not know it sooner.
     */
    async endWithFailure(key: string, storeFailed: StoreFailed, spelling?: string): Promise<void> {
      remove(underWay, key, spelling)
      add(ending, key, spelling)
      await fail(key, storeFailed)
      remove(ending, key, spelling)
    },
    /** Forgets the failures of an account, in memory before the store. */
    async reset(account: string): Promise<void> {
      const keys = [...failures.keys()].filter((key) => key.startsWith(account))
      for (const key of keys) failures.delete(key)
      await shared?.reset(account, keys)
    },
  }
}
