import type { ClientSettings } from '../client-options.js'
import type { Grant } from '../grant.js'

type Call = () => Promise<Grant | undefined>

/** The part of `navigator.locks` (Web Locks API) that the client uses. */
interface Locks {
  request(name: string, options: { signal: AbortSignal }, call: Call): ReturnType<Call>
}

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
 * deletes the cookie of a new sign-in.
 */
export function createCallQueue({ refresh, name }: ClientSettings) {
  const queue = inTurn()
  const locks = (globalThis as { navigator?: { locks?: Locks } }).navigator?.locks

  return (call: Call, signal: AbortSignal): ReturnType<Call> => {
    if (refresh !== 'cookie') return call()
    return locks ? locks.request(name, { signal }, call) : queue(call)
  }
}
