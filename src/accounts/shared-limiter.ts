import { isPlainObject } from '../options.js'
import type { Exhausted, Limiter, LimiterOptions } from './limiter.js'

/**
 * For how long a shared store may say nothing at all (so many ticks of so many milliseconds), and for how long one that
 * failed is left alone.
 */
const STORE = { tickMs: 10, ticks: 4, restMs: 1000 }

/**
 * Spends a point on the shared store, and gives what gives it back; or tells that none is left. While the store rests there is
 * nothing to spend.
 */
export type SpendShared = (key: string, storeFailed: (error: unknown) => void) => Promise<(() => void) | Exhausted>

/** The store behind the limiters, whichever of them asks it. */
export interface SharedStore {
  /** Whether it is left alone for a moment after a failure, so that only one login in that time waits for it. */
  rests(): boolean
  failed(): void
  /** Waits for an answer of the store's. Rejects as the answer does, and when the store says nothing. */
  answerOf(answer: Promise<unknown>): Promise<void>
}

export function sharedStore(): SharedStore {
  let restsUntil = Number.NEGATIVE_INFINITY
  let answeredAt = Number.NEGATIVE_INFINITY

  /**
   * Rejects once the store has said nothing for too long. In a burst an answer may be late, but others come meanwhile; and a
   * process that is busy itself counts few ticks, each after it has read what had arrived.
   */
  function silence(): { promise: Promise<never>; end(): void } {
    let timer: NodeJS.Timeout | undefined
    let ended = false
    const promise = new Promise<never>((_, reject) => {
      const wait = (ticks: number, since: number) => {
        timer = setTimeout(() => setImmediate(look, ticks, since), STORE.tickMs)
      }
      const look = (ticks: number, since: number) => {
        if (ended) return
        if (answeredAt > since) wait(STORE.ticks, answeredAt)
        else if (ticks > 1) wait(ticks - 1, since)
        else reject(new Error(`throttle: the store said nothing for ${STORE.ticks * STORE.tickMs} ms`))
      }
      wait(STORE.ticks, performance.now())
    })
    const end = () => {
      ended = true
      clearTimeout(timer)
    }
    return { promise, end }
  }

  return {
    rests: () => performance.now() < restsUntil,
    failed() {
      restsUntil = performance.now() + STORE.restMs
    },
    async answerOf(answer) {
      const { promise, end } = silence()
      const answered = answer.finally(() => {
        answeredAt = performance.now()
      })
      await Promise.race([answered, promise]).finally(end)
    },
  }
}

/** A budget on a shared store. */
export function sharedBudget(limiter: Limiter, store: SharedStore, { duration }: LimiterOptions): SpendShared {
  return async (key, storeFailed) => {
    if (store.rests()) return () => {}
    const ends = performance.now() + duration * 1000
    const reward = () => {
      // A point of a window that is over would be one too many in the next.
      if (performance.now() < ends) limiter.reward(key).catch(() => {})
    }
    let pending: Promise<unknown> | undefined
    try {
      pending = Promise.resolve(limiter.consume(key))
      await store.answerOf(pending)
    } catch (outcome) {
      if (isExhausted(outcome)) {
        // The store counts what it refuses.
        reward()
        return outcome
      }
      // One failure is told of once, however many logins it met.
      if (!store.rests()) storeFailed(outcome)
      store.failed()
    }
    // Given back whenever it was spent: the answer may still be on its way.
    return () => pending?.then(reward, (late) => isExhausted(late) && reward())
  }
}

/** Whether a limiter refused because no point is left. Anything else that it rejects with is a failure of its store. */
function isExhausted(outcome: unknown): outcome is Exhausted {
  return !(outcome instanceof Error) && isPlainObject(outcome) && typeof outcome['msBeforeNext'] === 'number'
}
