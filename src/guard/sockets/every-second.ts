// Not the globals, because an authorization must end also while a host's tests fake the timers.
import { clearInterval, setImmediate, setInterval } from 'node:timers'

/** The connections that are looked at in one turn of the event loop. All of them may close, and closing takes time. */
const PER_TURN = 250

const connections = new Set<() => void>()
let timer: NodeJS.Timeout | undefined
let isLooking = false

/**
 * Calls a function every second. All connections share one timer, which does not keep the process alive.
 * @param look a function that does not throw
 * @returns a function that ends the calls
 */
export function everySecond(look: () => void): () => void {
  connections.add(look)
  timer ??= setInterval(lookAtAll, 1000).unref()
  return () => {
    connections.delete(look)
    if (connections.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

async function lookAtAll(): Promise<void> {
  if (isLooking) return
  isLooking = true
  let looked = 0
  for (const look of connections) {
    look()
    looked++
    if (looked % PER_TURN === 0) await new Promise((nextTurn) => setImmediate(nextTurn))
  }
  isLooking = false
}
