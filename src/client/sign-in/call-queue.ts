import { assertOpen, within } from '../abort.js'
import type { ClientSettings } from '../client-options.js'
import type { Grant } from '../grant.js'
import { onAbort } from '../runtime.js'

type Call = () => Promise<Grant | undefined>

/** The part of `navigator.locks` (Web Locks API) that the client uses. */
interface Locks {
  request(name: string, options: { signal: AbortSignal }, held: () => Promise<void>): Promise<void>
}

/** The longest wait for the other tabs, in milliseconds. A tab that hangs may keep the lock. */
const LONGEST_TURN = 30_000

/** Returns a function that runs one call after the other. */
export function inTurn(): <T>(call: () => T | PromiseLike<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (call) => {
    const next = last.then(call, call)
    last = next
    return next
  }
}

/**
 * Returns a function that runs a call of the token endpoint. One call of the browser at a time changes the cookie, so that no late response
 * deletes the cookie of a new sign-in. The call runs without the lock of the tabs when the lock is not free within 30 s. It also does
 * where the browser refuses the lock, as in the frame of a sandbox.
 */
export function createCallQueue({ refresh, name }: ClientSettings) {
  const queue = inTurn()
  const { locks } = (refresh === 'cookie' && (globalThis as { navigator?: { locks?: Locks } }).navigator) || {}

  return (call: Call, signal: AbortSignal): ReturnType<Call> => {
    /** Resolves with the function that releases the lock. */
    const lock = (limited: AbortSignal) =>
      new Promise<() => void>((resolve, reject) => {
        const held = () =>
          new Promise<void>((release) => {
            resolve(release)
            // The call may be aborted in the same turn of the event loop.
            onAbort(limited, release)
          })
        locks?.request(name, { signal: limited }, held).catch(reject)
      })
    return queue(async () => {
      // Undefined without the lock.
      const release =
        locks && (await within(LONGEST_TURN, signal, undefined, lock).catch(() => void assertOpen(signal)))
      return call().finally(release || undefined)
    })
  }
}
