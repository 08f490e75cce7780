import type { IncomingMessage } from 'node:http'
import { http2StreamOf } from '../refusals/close-after-response.js'
import { warnOnce } from '../refusals/warnings.js'
import type { Source } from '../waiting/fair-queue.js'
import { clientNetwork } from './client-network.js'

/** Returns the client's address: Express's `req.ip`, or the socket's where there is no Express. */
export function addressOf(req: IncomingMessage & { ip?: string | undefined }): string | undefined {
  return req.ip ?? req.socket?.remoteAddress
}

/** Warns once when the app's setting `trust proxy` makes the addresses of clients useless for the failed-login limits. */
export function warnOfTrustProxy(req: IncomingMessage & { app?: { get?: unknown } }): void {
  const { app, headers } = req
  if (typeof app?.get !== 'function') return
  const trusted: unknown = app.get('trust proxy')
  if (trusted === true) warnOnce('trustsEveryone')
  else if (trusted === false && Object.hasOwn(headers, 'x-forwarded-for')) warnOnce('trustsNobody')
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
