import { setMaxListeners } from 'node:events'
import type { Socket } from 'node:net'

const signals = new WeakMap<Socket, AbortSignal>()

/**
 * Returns a signal that aborts when the connection closes: one signal per connection, whose requests may be pipelined. Serverless
 * adapters and mocks have a socket without events, or none: then the signal never aborts.
 */
export function disconnectSignal(socket: Socket | undefined): AbortSignal {
  if (typeof socket?.once !== 'function') return NEVER
  if (socket.destroyed) return AbortSignal.abort()
  const known = signals.get(socket)
  if (known) return known
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  socket.once('close', () => controller.abort())
  signals.set(socket, controller.signal)
  return controller.signal
}

/** A signal that never aborts. */
export const NEVER: AbortSignal = new AbortController().signal
setMaxListeners(0, NEVER)
