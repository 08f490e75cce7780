// Not the global, because a host's tests may fake the timers.
import { setImmediate } from 'node:timers'

/** Throws an error of the host's code outside of this package's promises and loops: it becomes an uncaught exception. */
export function throwLater(error: unknown): void {
  setImmediate(() => {
    throw error
  })
}
