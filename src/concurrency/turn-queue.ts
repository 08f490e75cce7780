// Not the global, because it would never fire in a host's tests that fake the timers.
import { setImmediate } from 'node:timers'
import { AuthError } from '../errors/auth-error.js'
import { createFairQueue, type QueueLimits } from './fair-queue.js'

/** The requests that continue in one turn of the event loop. The app's other requests are served in between. */
const PER_TURN = 8

interface TurnLimits extends QueueLimits {
  /** The maximum number of waiting requests of one connection. Default: only those of its network. */
  readonly perConnection?: number
}

interface Waiting {
  connection: object
  resolve(): void
  refuse(): void
}

/**
 * Creates a queue that lets 8 requests continue in each turn of the event loop. Client networks alternate, so a flood delays a request of
 * another network by one request per network at most.
 * @returns a function that returns undefined when a request may continue at once. Its promise fulfils in a later turn, or rejects with an
 * `AuthError` `overloaded` when a limit is reached
 */
export function createTurnQueue({ perConnection = Number.POSITIVE_INFINITY, ...limits }: TurnLimits) {
  const connections = new WeakMap<object, number>()
  const queue = createFairQueue<Waiting>(limits, (item) => {
    count(item.connection, -1)
    item.refuse()
  })
  /** The requests that may still continue in this turn. */
  let left = PER_TURN

  function count(connection: object, change: number): void {
    connections.set(connection, waitingOf(connection) + change)
  }

  const waitingOf = (connection: object) => connections.get(connection) ?? 0

  function continueOne(): void {
    if (left === PER_TURN) setImmediate(nextTurn)
    left--
  }

  function nextTurn(): void {
    left = PER_TURN
    while (left > 0) {
      const next = queue.take()
      if (!next) break
      count(next.connection, -1)
      continueOne()
      next.resolve()
    }
  }

  return function waitForTurn(network: string, connection: object = {}): Promise<void> | undefined {
    if (left > 0) {
      continueOne()
      return undefined
    }
    return new Promise((resolve, reject) => {
      const refuse = () => reject(new AuthError('overloaded'))
      const hasRoom = waitingOf(connection) < perConnection && queue.add(network, { connection, resolve, refuse })
      if (hasRoom) count(connection, 1)
      else refuse()
    })
  }
}
