import { AuthError, type LimitName } from '../../shared/errors.js'
import { createFailures, type Exhausted } from './failures.js'
import { type Counted, type Entered, type Limiter, type LimiterOptions, sharedLimit } from './shared-limit.js'
import type { SharedStore, StoreFailed } from './shared-store.js'

/** An attempt under way, at one limit and for one key. */
export interface LimitAttempt {
  readonly name: LimitName
  /**
   * Counts the attempt in the shared store. Returns the refusal if failures in the store reach the limit, or if attempts under way in
   * all processes fill it.
   */
  count(storeFailed: StoreFailed): Promise<AuthError | undefined>
  /** Ends the attempt, once. A failed one becomes a failure. */
  end(failed: boolean, storeFailed: StoreFailed): Promise<void>
}

/**
 * One failed-login limit, in memory and in the shared store. Memory refuses without a round trip, and continues while the store is
 * down. An attempt begins only where failures and attempts under way leave room, so simultaneous guesses never exceed the limit.
 */
export interface Limit {
  readonly name: LimitName
  /** Returns the refusal if memory knows that failures reach the limit. Counts nothing. */
  reached(key: string): AuthError | undefined
  /** Begins an attempt in memory. Returns undefined when attempts under way leave no room. */
  begin(key: string): LimitAttempt | undefined
  /** Counts a failure without an attempt. Returns the count in the store, if the store tells. */
  fail(key: string, storeFailed: StoreFailed): Promise<Counted | undefined>
  /** Reads the failures in the store. Memory then knows whether they reach the limit. */
  read(key: string, storeFailed: StoreFailed): Promise<Counted | undefined>
}

/** Where a limit counts in addition to memory. */
interface Shared {
  limiter: Limiter
  store: SharedStore
}

/** Creates the refusal of a login while failures reach a limit. */
const tooManyAttempts = (limit: LimitName, { msBeforeNext }: Exhausted) =>
  new AuthError('too_many_attempts', { limit, retryAfter: Math.max(1, Math.ceil(msBeforeNext / 1000)) })

export function createLimit(name: LimitName, options: LimiterOptions, shared?: Shared, mostKeys?: number): Limit {
  const { points } = options
  const failures = createFailures(points, options.duration, mostKeys)
  const inStore = shared && sharedLimit(shared.limiter, shared.store, options)
  const underWay = new Map<string, number>()

  function reached(key: string): AuthError | undefined {
    const wait = failures.reached(key)
    return wait && tooManyAttempts(name, wait)
  }

  function learn(key: string, counted: Counted | undefined): Counted | undefined {
    if (counted && counted.points >= points) failures.exhaust(key, counted)
    return counted
  }

  function leave(key: string): void {
    const others = (underWay.get(key) ?? 0) - 1
    if (others > 0) underWay.set(key, others)
    else underWay.delete(key)
  }

  function begin(key: string): LimitAttempt | undefined {
    const others = underWay.get(key) ?? 0
    if (failures.count(key) + others >= points) return undefined
    underWay.set(key, others + 1)
    let entered: Entered | undefined
    let ended = false
    return {
      name,
      async count(storeFailed) {
        entered = await inStore?.enter(key, storeFailed)
        const inAll = learn(key, await inStore?.read(key, storeFailed))?.points ?? 0
        const isFull = Math.max(inAll, failures.count(key)) + (entered?.underWay ?? 0) > points
        return reached(key) ?? (isFull ? new AuthError('overloaded') : undefined)
      },
      async end(failed, storeFailed) {
        if (ended) return
        ended = true
        leave(key)
        if (!failed) return entered?.leave()
        failures.add(key)
        learn(key, await inStore?.fail(key, storeFailed, entered))
      },
    }
  }

  return {
    name,
    reached,
    begin,
    async fail(key, storeFailed) {
      failures.add(key)
      return learn(key, await inStore?.fail(key, storeFailed))
    },
    read: async (key, storeFailed) => learn(key, await inStore?.read(key, storeFailed)),
  }
}
