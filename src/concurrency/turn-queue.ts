// Not the global, because it would never fire in a host's tests that fake the timers.
import { setImmediate } from 'node:timers'
import type { QueueLimits, Source } from './fair-queue.js'
import { createGate, type Leave } from './gate.js'

/** The requests that continue in one turn of the event loop. The app's other requests are served in between. */
const PER_TURN = 8

/**
 * Creates a queue that lets 8 requests continue in each turn of the event loop. Client networks take turns, and so do the connections of a
 * network, so a flood delays a request of another connection by one request per connection at most.
 * @returns a function that returns undefined when a request may continue at once. Its promise fulfils in a later turn, or rejects with an
 * `AuthError` `overloaded` when a limit is reached
 */
export function createTurnQueue(limits: QueueLimits) {
  const gate = createGate({ total: PER_TURN }, { queue: limits })
  let ofThisTurn: Leave[] = []

  function keepUntilNextTurn(leave: Leave): void {
    if (ofThisTurn.push(leave) === 1) setImmediate(nextTurn)
  }

  function nextTurn(): void {
    const left = ofThisTurn
    ofThisTurn = []
    for (const leave of left) leave()
  }

  return (sourceOf: () => Source): Promise<void> | undefined => {
    const leave = gate.tryEnter()
    if (!leave) return gate.enter({ source: sourceOf() }).then(keepUntilNextTurn)
    keepUntilNextTurn(leave)
    return undefined
  }
}
