import { setMaxListeners } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Source } from '../concurrency/fair-queue.js'
import { warnOnce } from '../events/warnings.js'
import { memberOf } from '../options/values.js'
import { clientNetwork } from './client-network.js'
import { http2StreamOf } from './send-response.js'

type HttpRequest = IncomingMessage & { ip?: string | undefined }

/** The client that a request comes from. */
export interface Origin {
  /** The request. Undefined for a login without one. */
  req: IncomingMessage | undefined
  address: string | undefined
  source: Source
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
  return { req, address, source: sourceOf(req, address), signal: disconnectSignal(req.socket) }
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

/** The streams that a client has reset do not know their session any more, so they share one limit. */
const ENDED = {}

/** Returns where a request comes from, for the queues. */
export function sourceOf(req: IncomingMessage, address = addressOf(req)): Source {
  const stream = http2StreamOf(req)
  // In HTTP/2 each request has its own `socket`, and the requests of a connection share a session.
  const connection = stream ? (stream.session ?? ENDED) : (req.socket ?? undefined)
  return { network: clientNetwork(address), connection }
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
