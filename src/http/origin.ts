import { setMaxListeners } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { warnOnce } from '../events/warnings.js'
import { memberOf } from '../options/values.js'
import { clientNetwork } from './client-network.js'

type HttpRequest = IncomingMessage & { ip?: string | undefined }

/** The client that a request comes from. */
export interface Origin {
  /** The request. Undefined for a login without one. */
  req: IncomingMessage | undefined
  address: string | undefined
  /** The client's network: an IPv4 address, an IPv6 /64, or `'unknown'`. */
  network: string
  /** Aborted when the client has disconnected. */
  signal: AbortSignal
}

export interface RequestOrigin extends Origin {
  req: IncomingMessage
}

/** Returns the origin of a request. Called once for a request, because `req.ip` parses headers. */
export function originOfRequest(req: IncomingMessage): RequestOrigin {
  warnOfTrustProxy(req)
  const address = addressOf(req)
  return { req, address, network: clientNetwork(address), signal: disconnectSignal(req.socket) }
}

/** Returns the client's address: Express's `req.ip`, or the socket's where there is no Express. */
export function addressOf(req: HttpRequest): string | undefined {
  return (memberOf(req, 'ip') as string | undefined) ?? req.socket?.remoteAddress
}

/** Warns once when the app's setting `trust proxy` makes the addresses of clients useless for the failed-login limits. */
function warnOfTrustProxy(req: IncomingMessage & { app?: { get?: unknown } }): void {
  const { app, headers } = req
  if (typeof app?.get !== 'function') return
  const trusted: unknown = app.get('trust proxy')
  if (trusted === true) warnOnce('anyProxy')
  else if (trusted === false && Object.hasOwn(headers, 'x-forwarded-for')) warnOnce('proxyUnknown')
}

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
