import { setMaxListeners } from 'node:events'
import type { Socket } from 'node:net'

const signals = new WeakMap<object, AbortSignal>()

/**
 * Returns a signal that aborts when the connection closes: one signal per connection, whose requests may be pipelined. Serverless
 * adapters and mocks have a socket without events, or none: then the signal never aborts.
 */
export function disconnectSignal(socket: Socket | undefined): AbortSignal {
  if (typeof socket?.once !== 'function') return NEVER
  if (socket.destroyed) return AbortSignal.abort()
  return signals.get(socket) ?? signalOf(socket, (abort) => socket.once('close', abort))
}

/** Returns a signal that follows a signal of the host, and that may have any number of listeners: one listener for all its logins. */
export function followerOf(signal: AbortSignal): AbortSignal {
  if (signal.aborted) return AbortSignal.abort()
  return signals.get(signal) ?? signalOf(signal, (abort) => signal.addEventListener('abort', abort))
}

function signalOf(key: object, listen: (abort: () => void) => unknown): AbortSignal {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  listen(() => controller.abort())
  signals.set(key, controller.signal)
  return controller.signal
}

export const NEVER: AbortSignal = new AbortController().signal
setMaxListeners(0, NEVER)
