import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import { createLimit } from '../concurrency/limit.js'
import { bare } from '../options/values.js'
import { clientNetwork } from './client-network.js'
import { addressOf } from './origin.js'
import { DRAINED_BODIES } from './request-limits.js'
import type { HttpResponse } from './responses.js'

/** Sets headers unchanged. Express's `res.set` would add a charset to media types that have none. */
export function setHeaders(res: ServerResponse, headers: HttpResponse['headers']): void {
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
}

/** Sends a response, unless the headers of another one have been sent. With `closes`, the connection then closes. */
export function sendResponse(res: ServerResponse, { status, headers, body }: HttpResponse, closes = false): void {
  if (res.headersSent) return
  res.statusCode = status
  setHeaders(res, headers)
  // RFC 9110 section 8.6: a 204 has no length.
  if (status !== 204) res.setHeader('Content-Length', Buffer.byteLength(body))
  if (closes) endThenClose(res, body)
  else res.end(body)
}

/** The longest unread body that Node may read to its end after a refusal, in bytes. */
const DRAINED_BODY = 65_536

/** The limits for draining an unread body. Many clients read no response before they have sent their whole request. */
const DRAIN = { ms: 10_000, bytes: 33_554_432 }

/** The limits for a body that is too long anyway, and for one of too many. */
const SHORT_DRAIN = { ms: 1000, bytes: 1_048_576 }

const beginDrain = createLimit(DRAINED_BODIES)

/** Returns the limits for draining the body of a refused request, and the function that ends it. */
function drainOf({ req, statusCode }: ServerResponse) {
  const isTooLong = statusCode === 413 || Number(bare(req.headers)['content-length']) > DRAIN.bytes
  const end = isTooLong ? undefined : beginDrain(clientNetwork(addressOf(req)))
  return end ? { ...DRAIN, end } : { ...SHORT_DRAIN, end() {} }
}

/**
 * Returns whether the client may still send an unread body that is longer than `limit`, or that has no length. Node would read such a
 * body to its end, however long it is.
 */
export function hasUnreadBody(req: IncomingMessage, limit: number): boolean {
  const sent = bare(req.headers)
  const stream = http2StreamOf(req)
  const isEndless = stream ? !stream.endAfterHeaders : sent['transfer-encoding']
  const length = sent['content-length'] ?? (isEndless ? Infinity : 0)
  return !req.complete && Number(length) > limit
}

export const hasToClose = (req: IncomingMessage) => hasUnreadBody(req, DRAINED_BODY)

/**
 * Makes `end` of the response work like `endThenClose`, unless the body has been read until then. Replaces `end`, because Passport or the
 * host's error handler ends this response later, and only then it is known whether the body is unread.
 */
export function closeAfterEnd(req: IncomingMessage, res: ServerResponse): void {
  const { end } = res
  res.end = (...sent: unknown[]) => {
    res.end = end
    if (typeof sent.at(-1) === 'function') res.once('finish', sent.pop() as () => void)
    const [body, encoding] = sent as [string | undefined, BufferEncoding]
    if (res.headersSent || !hasToClose(req)) end.call(res, body, encoding)
    else endThenClose(res, Buffer.from(body ?? '', encoding))
    return res
  }
}

/**
 * Ends a response with its body, drains what still arrives, and closes the connection. Closing at once would reset the connection
 * before the client has read the response. Nothing is read after the limits, also while an earlier response of the connection is
 * unfinished.
 *
 * In HTTP/2, the request's stream is closed after the response (RFC 9113 section 8.1), and the connection stays open.
 */
function endThenClose(res: ServerResponse, body: string | Buffer): void {
  const { req } = res
  const stream = http2StreamOf(req)
  if (stream) {
    // Not an empty text: Node ends the process when a stream is closed that has yet to send one.
    res.end(body.length > 0 ? body : undefined)
    stream.close()
    return
  }
  const drain = drainOf(res)
  let received = 0
  const close = () => {
    drain.end()
    clearTimeout(timer)
    req.off('data', count)
    req.pause()
    res.end()
  }
  const count = (chunk: Buffer) => {
    received += chunk.length
    if (received > drain.bytes) close()
  }
  const timer = setTimeout(close, drain.ms)
  res.setHeader('Connection', 'close')
  res.flushHeaders()
  res.write(body)
  res.once('close', close)
  req.once('end', close)
  req.on('data', count)
  // A body that was read up to its limit is paused.
  req.resume()
}

/** Returns the stream of an HTTP/2 request, and undefined for HTTP/1. */
function http2StreamOf(req: IncomingMessage): ServerHttp2Stream | undefined {
  return req.httpVersionMajor >= 2 ? (req as IncomingMessage & { stream?: ServerHttp2Stream }).stream : undefined
}
