// Not the global: it would never fire in a host's tests that fake the timers.
import { setImmediate } from 'node:timers'
import { AuthError } from '../errors.js'
import { createFairQueue, type Source } from '../fair-queue.js'

/** How many requests with a token that is not cached may wait. Only a client that pipelines has more than one per connection. */
const LIMITS = { total: 4096, perNetwork: 2048, perConnection: 128 }

/** How many of them continue in one turn of the event loop, so that the app's other requests go on in between. */
const PER_TURN = 8

interface Waiter {
  continue(): void
  /** Makes room for a request of a network that has fewer waiting. */
  drop(): void
}

const drop = (waiter: Waiter) => waiter.drop()

/** Of all guards together. */
const turns = createFairQueue<Waiter>(LIMITS, drop)
const unanswered = createFairQueue<Waiter>(LIMITS, drop)

/**
 * Waits for a later turn of the event loop. Client networks take turns, and so do the connections of a network: forged tokens on
 * other connections delay a valid one by one verification per connection at most.
 * @throws AuthError `overloaded` when a limit is reached
 */
export function waitForTurn(source: Source): Promise<void> {
  return new Promise((resolve, reject) => {
    const isFirst = turns.size === 0
    if (!turns.add(source, { continue: resolve, drop: () => reject(new AuthError('overloaded')) })) {
      throw new AuthError('overloaded')
    }
    if (isFirst) setImmediate(nextTurn)
  })
}

function nextTurn(): void {
  for (let i = 0; i < PER_TURN; i++) turns.take()?.continue()
  if (turns.size > 0) setImmediate(nextTurn)
}

/**
 * Waits for what a verifier answers later, a key source for example. Holds one place of the limits meanwhile.
 * @throws AuthError `overloaded` when a limit is reached; what `question` rejects with
 */
export async function holdPlace<T>(source: Source, question: () => PromiseLike<T>): Promise<T> {
  const place: Waiter = { continue() {}, drop() {} }
  const dropped = new Promise<never>((_, reject) => {
    place.drop = () => reject(new AuthError('overloaded'))
  })
  if (!unanswered.add(source, place)) throw new AuthError('overloaded')
  try {
    return await Promise.race([question(), dropped])
  } finally {
    unanswered.remove(source, place)
  }
}
