// Not the global one: a host's tests that fake the timers would wait for ever.
import { setImmediate } from 'node:timers'

/**
 * Has everybody wait for the end of the event loop's turn, and then lets so many through in each, in their order. What arrived
 * together is read before any of it is worked on, and a flood takes a share of each turn instead of a whole one: the app's other
 * requests go on in between.
 *
 * Who finds `most` waiting goes on at once, which is told by `undefined`: Node reads on while answers are owed, so one connection
 * could have any number wait.
 */
export function createTurnstile(perTurn: number, most: number): () => Promise<void> | undefined {
  const waiting: (() => void)[] = []

  function endOfTurn(): void {
    for (const pass of waiting.splice(0, perTurn)) pass()
    if (waiting.length > 0) setImmediate(endOfTurn)
  }

  return () => {
    if (waiting.length >= most) return undefined
    return new Promise((resolve) => {
      if (waiting.push(resolve) === 1) setImmediate(endOfTurn)
    })
  }
}
