// Not the global: it would never fire in a host's tests that fake the timers.
import { setImmediate } from 'node:timers'
import { AuthError } from '../errors.js'
import { createFairQueue, type Source } from '../fair-queue.js'

/** How many requests may wait. Only a client that pipelines has more than one per connection. */
const LIMITS = { total: 4096, perNetwork: 2048, perConnection: 128 }

/** How many of them continue in one turn of the event loop, so that the app's other requests go on in between. */
const PER_TURN = 8

interface Waiter {
  continue(): void
  /** Makes room for a request of a network that has fewer waiting. */
  drop(): void
}

const createQueue = () => createFairQueue<Waiter>(LIMITS, (waiter) => waiter.drop())

/**
 * Waits for a later turn of the event loop. Client networks take turns, and so do the connections of a network, so a flood delays a
 * request of another connection by one request per connection at most.
 * @throws AuthError `overloaded` when a limit is reached
 */
export type WaitForTurn = (source: Source) => Promise<void>

export function createTurnQueue(): WaitForTurn {
  const waiting = createQueue()

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
 * Waits for what `question` resolves with, and holds a place of the same limits meanwhile.
 * @throws AuthError `overloaded` when a limit is reached; what `question` rejects with
 */
export type HoldPlace = <T>(source: Source, question: () => PromiseLike<T>) => Promise<T>

export function createPlaces(): HoldPlace {
  const held = createQueue()

  return async (source, question) => {
    const place: Waiter = { continue() {}, drop() {} }
    const dropped = new Promise<never>((_, reject) => {
      place.drop = () => reject(new AuthError('overloaded'))
    })
    if (!held.add(source, place)) throw new AuthError('overloaded')
    try {
      return await Promise.race([question(), dropped])
    } finally {
      held.remove(source, place)
    }
  }
}
