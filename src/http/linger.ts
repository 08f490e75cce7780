import type { IncomingMessage } from 'node:http'
import type { Finish } from './respond.js'

/** For how long, and for how many bytes, a client that goes on sending after its answer is listened to. */
const LINGER = { ms: 1000, bytes: 1_048_576 }

/**
 * Whether the client may still be sending a body that nobody wants: one that is longer than the limit, or does not say how
 * long it is. Node would read it to its end, however far that is.
 */
export function mayGoOnSending({ complete, headers }: IncomingMessage, limit: number): boolean {
  const length = headers['content-length'] ?? (headers['transfer-encoding'] ? Infinity : 0)
  return !complete && Number(length) > limit
}

/**
 * Ends an answer and closes the connection. Closing at once would reset it before the client has read the answer: so the
 * answer goes out whole, what still comes is thrown away for a moment, and then the connection is cut.
 */
export const endAndCut: Finish = (res, body) => {
  const { req } = res
  let received = 0
  const cut = () => {
    clearTimeout(timer)
    res.end()
  }
  const timer = setTimeout(cut, LINGER.ms)
  res.setHeader('Connection', 'close')
  res.flushHeaders()
  res.write(body)
  res.once('close', cut)
  req.once('end', cut)
  req.on('data', (chunk: Buffer) => {
    received += chunk.length
    if (received > LINGER.bytes) cut()
  })
  // Whoever read the body up to its limit has paused it.
  req.resume()
}
