// Not the global: it would never fire in a host's tests that fake the timers.
import { setImmediate } from 'node:timers'
import { AuthError } from '../../shared/errors.js'
import { createFairQueue, type QueueLimits, type Source } from '../../shared/fair-queue.js'

/** How many requests continue in one turn of the event loop, so that the app's other requests are served in between. */
const PER_TURN = 8

interface Waiter {
  continue(): void
  /** Makes room for a request of a network that has fewer waiting. */
  drop(): void
}

/**
 * Waits for a later turn of the event loop. Client networks take turns, and so do the connections of a network, so a flood delays a
 * request of another connection by one request per connection at most.
 * @throws AuthError `overloaded` when a limit is reached
 */
export type WaitForTurn = (source: Source) => Promise<void>

export function createTurnQueue(limits: QueueLimits): WaitForTurn {
  const waiting = createFairQueue<Waiter>(limits, (waiter) => waiter.drop())
  let isScheduled = false

  function schedule(): void {
    if (isScheduled || waiting.size === 0) return
    isScheduled = true
    setImmediate(nextTurn)
  }

  function nextTurn(): void {
    isScheduled = false
    for (let i = 0; i < PER_TURN; i++) waiting.take()?.continue()
    schedule()
  }

  return (source) =>
    new Promise((resolve, reject) => {
      const overloaded = () => reject(new AuthError('overloaded'))
      if (!waiting.add(source, { continue: resolve, drop: overloaded })) return overloaded()
      schedule()
    })
}
