import { memberOf } from '../../shared/values.js'
import type { Exhausted, Limiter, LimiterOptions } from './memory-budget.js'

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

/**
 * No point is given back so shortly before the end of a window: it could reach the store after the end, where it would open a new
 * window with one point too many.
 */
const REFUND_MARGIN_MS = 100

/** Creates a failed-login limit on a shared store. */
export function sharedBudget(limiter: Limiter, store: SharedStore, { duration }: LimiterOptions): SpendShared {
  const windowMs = duration * 1000

  // An async function, so that a limiter that throws, or that returns no promise, is treated like any other.
  const consume = async (key: string): Promise<unknown> => limiter.consume(key)

  /** Gives a point back to the window that it was spent in. */
  async function reward(key: string, outcome: unknown, askedAt: number): Promise<void> {
    const left = numberOf(outcome, 'msBeforeNext')
    if (!Number.isFinite(left)) return
    if (performance.now() > askedAt + Math.min(left, windowMs) - REFUND_MARGIN_MS) return
    const result: unknown = await limiter.reward(key)
    // The window was over after all, and the point would be one too many in the next.
    if (numberOf(result, 'consumedPoints') < 0) await consume(key)
  }

  return async (key, storeFailed) => {
    if (store.rests()) return () => {}
    const askedAt = performance.now()
    const pending = consume(key)
    // Awaits the result of the store, because the result may arrive after the login went on without it.
    const giveBack = async () => {
      const outcome = await pending.catch((refusal: unknown) => {
        // A refusal that the store has counted says how many points are spent. A limiter that refuses from memory says 0.
        return isExhausted(refusal) && numberOf(refusal, 'consumedPoints') > 0 ? refusal : undefined
      })
      await reward(key, outcome, askedAt)
    }
    let returned = false
    const giveBackOnce = () => {
      if (returned) return
      returned = true
      // A store that fails here has its failure reported at the next login.
      giveBack().catch(() => {})
    }
    try {
      await store.answerOf(pending)
    } catch (outcome) {
      if (isExhausted(outcome)) {
        giveBackOnce()
        return { msBeforeNext: waitOf(outcome, windowMs) }
      }
      // One failure is told of once, however many logins it met.
      if (!store.rests()) storeFailed(outcome)
      store.failed()
    }
    return giveBackOnce
  }
}

/**
 * Returns whether a limiter refused because no point is left. Whether it did so with an `Error` does not matter: it is safer to
 * refuse a login than to go on without the shared limit.
 */
function isExhausted(outcome: unknown): outcome is Exhausted {
  return typeof propertyOf(outcome, 'msBeforeNext') === 'number'
}

/** Returns how long to wait: what the limiter says if that is a time within the window, otherwise the whole window. */
function waitOf({ msBeforeNext }: Exhausted, windowMs: number): number {
  return msBeforeNext >= 0 && msBeforeNext <= windowMs ? msBeforeNext : windowMs
}

/** Reads a number from what a limiter gave. Gives NaN, which compares as false, for everything else. */
function numberOf(value: unknown, name: string): number {
  const number = propertyOf(value, name)
  return typeof number === 'number' ? number : Number.NaN
}

function propertyOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? memberOf(value, name) : undefined
}
