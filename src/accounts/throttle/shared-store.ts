/**
 * The time limits for a shared store. After `ticks` ticks of `tickMs` without any response, the store counts as failed. A failed
 * store is not called for `restMs`.
 */
const STORE = { tickMs: 10, ticks: 4, restMs: 1000 }

/** Called when the shared store has failed. */
export type StoreFailed = (error: unknown) => void

/** The state of the store that all limiters share. Reads have their own state, because a store may refuse only reads. */
interface StoreState {
  /** Returns whether the store rests after a failure. Only one login waits for a failing store in that time. */
  rests(): boolean
  /**
   * Waits for a response of the store. Returns undefined when the store fails or does not respond. Reports a failure once, also when
   * it affects many logins.
   */
  answerOf<T>(answer: Promise<T>, storeFailed: StoreFailed): Promise<T | undefined>
}

export interface SharedStore {
  counting: StoreState
  reading: StoreState
}

export function sharedStore(): SharedStore {
  let answeredAt = Number.NEGATIVE_INFINITY
  let reportedAt = Number.NEGATIVE_INFINITY

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

  function createState(): StoreState {
    let restsUntil = Number.NEGATIVE_INFINITY
    return {
      rests: () => performance.now() < restsUntil,
      async answerOf(answer, storeFailed) {
        const { promise, end } = silence()
        const answered = answer.finally(() => {
          answeredAt = performance.now()
        })
        try {
          return await Promise.race([answered, promise])
        } catch (error) {
          const now = performance.now()
          restsUntil = now + STORE.restMs
          if (now - reportedAt >= STORE.restMs) storeFailed(error)
          reportedAt = now
          return undefined
        } finally {
          end()
        }
      },
    }
  }

  return { counting: createState(), reading: createState() }
}
