// Not the global, because it would never fire in a host's tests that fake the timers.
import { setImmediate } from 'node:timers'
import { AuthError } from '../refusals/auth-error.js'
import { createFairQueue, type QueueLimits, type Source } from './fair-queue.js'

/** The requests that continue in one turn of the event loop. The app's other requests are served in between. */
const PER_TURN = 8

interface WaitingRequest {
  continue(): void
  /** Makes room for a request of a network that has fewer waiting. */
  drop(): void
}

/**
 * Creates a queue that lets 8 requests continue in each turn of the event loop. Client networks take turns, and so do the connections of a
 * network, so a flood delays a request of another connection by one request per connection at most.
 * @returns a function that returns undefined when a request may continue at once. Its promise fulfils in a later turn, or rejects with an
 * `AuthError` `overloaded` when a limit is reached
 */
export function createTurnQueue(limits: QueueLimits) {
  const waiting = createFairQueue<WaitingRequest>(limits, (waiter) => waiter.drop())
  let left = PER_TURN
  let isScheduled = false

  function nextTurn(): void {
    left = PER_TURN
    isScheduled = waiting.size > 0
    if (isScheduled) setImmediate(nextTurn)
    for (; left > 0 && waiting.size > 0; left--) waiting.take()?.continue()
  }

  return (sourceOf: () => Source): Promise<void> | undefined => {
    if (!isScheduled) setImmediate(nextTurn)
    isScheduled = true
    // Requests wait only after eight others have continued.
    if (left > 0) {
      left--
      return undefined
    }
    return new Promise((resolve, reject) => {
      const overloaded = () => reject(new AuthError('overloaded'))
      if (!waiting.add(sourceOf(), { continue: resolve, drop: overloaded })) overloaded()
    })
  }
}
