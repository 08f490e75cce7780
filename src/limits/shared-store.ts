import { ignoringErrors } from '../options/values.js'

/**
 * The time limits for a shared store. After `ticks` ticks of `tickMs` without any response, the store counts as failed. After `mostTicks` it
 * does so although other calls get responses, because one node of a cluster may hang. A failed store is not called for `restMs`.
 */
const STORE = { tickMs: 10, ticks: 4, mostTicks: 100, restMs: 1000 }

export type StoreFailed = (error: unknown) => void

export type SharedStore = ReturnType<typeof sharedStore>

/** The state of the store that all limiters share. Reads have their own state, because a store may refuse only reads. */
export function sharedStore() {
  let settledAt = Number.NEGATIVE_INFINITY
  let reportedAt = Number.NEGATIVE_INFINITY

  /**
   * Rejects when the store has not responded at all for too long. In a burst, one response may be late while others arrive. A busy
   * process counts fewer ticks, and counts each tick after it has read the responses that had arrived.
   */
  async function silence(call: { hasEnded?: boolean; timer?: NodeJS.Timeout }): Promise<undefined> {
    let since = performance.now()
    let ticks = 0
    let waited = 0
    while (ticks < STORE.ticks && waited < STORE.mostTicks) {
      await new Promise((resolve) => {
        call.timer = setTimeout(() => setImmediate(resolve), STORE.tickMs)
      })
      if (call.hasEnded) return
      waited++
      ticks = settledAt > since ? 0 : ticks + 1
      since = Math.max(since, settledAt)
    }
    throw new Error(`limits: the store did not respond for ${(ticks < STORE.ticks ? waited : ticks) * STORE.tickMs} ms`)
  }

  function createState() {
    let restsUntil = Number.NEGATIVE_INFINITY
    return {
      /** Returns whether the store rests after a failure. Only one login waits for a failing store in that time. */
      rests: () => performance.now() < restsUntil,
      /**
       * Waits for a response of the store. Returns undefined when the store fails or does not respond. Reports a failure at most once
       * a second, also when it affects many logins.
       */
      async resultOf<T>(result: Promise<T>, storeFailed: StoreFailed): Promise<T | undefined> {
        const call: Parameters<typeof silence>[0] = {}
        const settled = result.finally(() => {
          settledAt = performance.now()
        })
        try {
          return await Promise.race([settled, silence(call)])
        } catch (error) {
          const now = performance.now()
          restsUntil = now + STORE.restMs
          if (now - reportedAt >= STORE.restMs) {
            reportedAt = now
            // The function may be the host's. Its error must not undo the count of a failure.
            ignoringErrors(() => storeFailed(error))
          }
          return undefined
        } finally {
          call.hasEnded = true
          clearTimeout(call.timer)
        }
      },
    }
  }

  return { counting: createState(), reading: createState() }
}
