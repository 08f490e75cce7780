// Not the global: it would never fire in a host's tests that fake the timers.
import { setImmediate } from 'node:timers'
import { AuthError } from '../errors.js'
import { createFairQueue, type QueueLimits, type Source } from '../fair-queue.js'

/** How many of them continue in one turn of the event loop, so that the app's other requests go on in between. */
const PER_TURN = 8

interface Waiter {
  continue(): void
  /** Makes room for a request of a network that has fewer waiting. */
  drop(): void
}

const createQueue = (limits: QueueLimits) => createFairQueue<Waiter>(limits, (waiter) => waiter.drop())

/**
 * Waits for a later turn of the event loop. Client networks take turns, and so do the connections of a network, so a flood delays a
 * request of another connection by one request per connection at most.
 * @throws AuthError `overloaded` when a limit is reached
 */
export type WaitForTurn = (source: Source) => Promise<void>

export function createTurnQueue(limits: QueueLimits): WaitForTurn {
  const waiting = createQueue(limits)

  function nextTurn(): void {
    for (let i = 0; i < PER_TURN; i++) waiting.take()?.continue()
    if (waiting.size > 0) setImmediate(nextTurn)
  }

  return (source) =>
    new Promise((resolve, reject) => {
      const isFirst = waiting.size === 0
      const overloaded = () => reject(new AuthError('overloaded'))
      if (!waiting.add(source, { continue: resolve, drop: overloaded })) return overloaded()
      if (isFirst) setImmediate(nextTurn)
    })
}

/**
 * Waits for what `question` resolves with, and holds a place meanwhile.
 * @throws AuthError `overloaded` when a limit is reached; what `question` rejects with
 */
export type HoldPlace = <T>(source: Source, question: () => PromiseLike<T>) => Promise<T>

export function createPlaces(limits: QueueLimits): HoldPlace {
  const held = createQueue(limits)

  return async (source, question) => {
    const place: Waiter = { continue() {}, drop() {} }
    const dropped = new Promise<never>((_, reject) => {
      place.drop = () => reject(new AuthError('overloaded'))
    })
    if (!held.add(source, place)) throw new AuthError('overloaded')
    try {
      return await Promise.race([question(), dropped])
    } finally {
      held.remove(place)
    }
  }
}
