import { memberOf } from '../../shared/values.js'
import type { Exhausted, Limiter, LimiterOptions } from './memory-budget.js'

/**
 * The time limits for a shared store. After `ticks` ticks of `tickMs` without any response, the store counts as failed. A failed
 * store is not called for `restMs`.
 */
const STORE = { tickMs: 10, ticks: 4, restMs: 1000 }

/**
 * Counts an attempt on the shared store and returns a function that takes it back. Returns the wait if the limit is reached. Counts
 * nothing while the store rests after a failure.
 */
export type SpendShared = (key: string, storeFailed: (error: unknown) => void) => Promise<(() => void) | Exhausted>

/** Reads whether the limit is reached, and counts nothing. Returns undefined also when the limiter cannot tell. */
export type ReadShared = (key: string, storeFailed: (error: unknown) => void) => Promise<Exhausted | undefined>

/** The state of the store that all limiters share. */
export interface SharedStore {
  /** Returns whether the store rests after a failure. Only one login waits for a failing store in that time. */
  rests(): boolean
  failed(): void
  /** Waits for a response of the store. Rejects when the response rejects, and when the store does not respond. */
  answerOf(answer: Promise<unknown>): Promise<void>
}

export function sharedStore(): SharedStore {
  let restsUntil = Number.NEGATIVE_INFINITY
  let answeredAt = Number.NEGATIVE_INFINITY

  /**
   * Rejects when the store has not responded at all for too long. In a burst, one response may be late while others arrive. A busy
   * process counts fewer ticks, and counts each tick after it has read the responses that had arrived.
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
        else reject(new Error(`throttle: the store did not respond for ${STORE.ticks * STORE.tickMs} ms`))
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
 * The time before the end of a window in which no attempt is taken back. A late request could reach the store in the next window,
 * which would then allow one attempt too many.
 */
const REFUND_MARGIN_MS = 100

/** Reports a failure of the store once, also when it affects many logins. */
function report(store: SharedStore, error: unknown, storeFailed: (error: unknown) => void): void {
  if (!store.rests()) storeFailed(error)
  store.failed()
}

/** Creates a failed-login limit on a shared store. */
export function sharedBudget(limiter: Limiter, store: SharedStore, { duration }: LimiterOptions): SpendShared {
  const windowMs = duration * 1000

  // Async, so that a limiter may also throw or return a plain value.
  const consume = async (key: string): Promise<unknown> => limiter.consume(key)

  /** Takes an attempt back in the window that counted it. */
  async function reward(key: string, outcome: unknown, askedAt: number): Promise<void> {
    const left = numberOf(outcome, 'msBeforeNext')
    if (!Number.isFinite(left)) return
    if (performance.now() > askedAt + Math.min(left, windowMs) - REFUND_MARGIN_MS) return
    const result: unknown = await limiter.reward(key)
    // The window had ended, so the next window would allow one attempt too many.
    if (numberOf(result, 'consumedPoints') < 0) await consume(key)
  }

  return async (key, storeFailed) => {
    if (store.rests()) return () => {}
    const askedAt = performance.now()
    const pending = consume(key)
    // Awaits the store, because its result may arrive after the login has continued without it.
    const giveBack = async () => {
      const outcome = await pending.catch((refusal: unknown) => {
        // A refusal that the store has counted has the number of attempts. A limiter that refuses from memory has 0.
        return isExhausted(refusal) && numberOf(refusal, 'consumedPoints') > 0 ? refusal : undefined
      })
      await reward(key, outcome, askedAt)
    }
    let returned = false
    const giveBackOnce = () => {
      if (returned) return
      returned = true
      // If the store fails here, the next login reports the failure.
      giveBack().catch(() => {})
    }
    try {
      await store.answerOf(pending)
    } catch (outcome) {
      if (isExhausted(outcome)) {
        giveBackOnce()
        return { msBeforeNext: waitOf(outcome, windowMs) }
      }
      report(store, outcome, storeFailed)
    }
    return giveBackOnce
  }
}

/** Creates a reader of a failed-login limit on a shared store. */
export function sharedReader(limiter: Limiter, store: SharedStore, { points, duration }: LimiterOptions): ReadShared {
  const windowMs = duration * 1000
  const get = memberOf(limiter, 'get') as Limiter['get']
  return async (key, storeFailed) => {
    if (store.rests() || !get) return undefined
    let found: unknown
    const read = async () => {
      found = await get.call(limiter, key)
    }
    try {
      await store.answerOf(read())
    } catch (error) {
      report(store, error, storeFailed)
    }
    if (!(numberOf(found, 'consumedPoints') >= points)) return undefined
    return { msBeforeNext: waitOf({ msBeforeNext: numberOf(found, 'msBeforeNext') }, windowMs) }
  }
}

/**
 * Returns whether a limiter refused because the limit is reached. The refusal may be an `Error`, because refusing a login is safer
 * than continuing without the shared limit.
 */
function isExhausted(outcome: unknown): outcome is Exhausted {
  return typeof propertyOf(outcome, 'msBeforeNext') === 'number'
}

/** Returns the wait that the limiter reports, at most the whole window. Returns the window for an invalid wait. */
function waitOf({ msBeforeNext }: Exhausted, windowMs: number): number {
  return msBeforeNext >= 0 ? Math.min(msBeforeNext, windowMs) : windowMs
}

/** Reads a number from the result of a limiter. Returns NaN, which compares as false, for everything else. */
function numberOf(value: unknown, name: string): number {
  const number = propertyOf(value, name)
  return typeof number === 'number' ? number : Number.NaN
}

function propertyOf(value: unknown, name: string): unknown {
  try {
    return memberOf(value as object, name)
  } catch {
    return undefined
  }
}
